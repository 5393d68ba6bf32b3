"""The condition of a join of two streams, taken apart: equalities, time bounds and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Cast, Column, Expr, Op, columns_of
from compiler.plan.expr import Literal as Constant
from compiler.plan.operators.interval_join import Bound
from compiler.plan.schema import Field, Schema, WindowPart

Side = Literal["left", "right", "both", "none"]

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@frozen(slots=True)
class Key:
    """An equality of something of the left with something of the right."""

    left: Expr
    right: Expr


@frozen(slots=True)
class TimeBound:
    """A bound of `right - left` of two event times.

    Args:
        left, right: the columns.
        earliest, latest: at least, and at most, this much apart; None where it says nothing.
        expr: the part of the condition that says so.
    """

    left: str
    right: str
    earliest: Bound | None
    latest: Bound | None
    expr: Expr

    @property
    def is_key(self) -> bool:
        """Whether it is an equality, and so a key of the join besides."""
        return self.earliest is not None and self.latest is not None


@frozen(slots=True)
class WindowEquality:
    """An equality of the starts, or of the ends, of a window of each side."""

    part: WindowPart
    left: Field
    right: Field


def conjuncts(predicate: Expr | None) -> list[Expr]:
    """The parts that must all hold; BETWEEN is two of them."""
    if predicate is None:
        return []
    if isinstance(predicate, Op) and predicate.op == "AND":
        return [part for arg in predicate.args for part in conjuncts(arg)]
    if isinstance(predicate, Op) and predicate.op == "BETWEEN":
        value, low, high = predicate.args
        return [
            Op(t.BOOLEAN, value.nullable or low.nullable, ">=", (value, low)),
            Op(t.BOOLEAN, value.nullable or high.nullable, "<=", (value, high)),
        ]
    return [predicate]


def side_of(expr: Expr, left: Schema, right: Schema) -> Side:
    """Which side's columns an expression reads; names of both sides differ."""
    names = columns_of(expr)
    of_left = any(left.get(name) for name in names)
    of_right = any(right.get(name) for name in names)
    if of_left and of_right:
        return "both"
    return "left" if of_left else "right" if of_right else "none"


def key_of(part: Expr, left: Schema, right: Schema) -> Key | None:
    """The equality of both sides that a part of the condition is, or None."""
    if not isinstance(part, Op) or part.op != "=":
        return None
    a, b = part.args
    sides = side_of(a, left, right), side_of(b, left, right)
    if sides == ("left", "right"):
        return Key(a, b)
    if sides == ("right", "left"):
        return Key(b, a)
    return None


def window_equality(key: Key, left: Schema, right: Schema) -> WindowEquality | None:
    """The equality of bounds of windows that a key is, or None."""
    if not isinstance(key.left, Column) or not isinstance(key.right, Column):
        return None
    a, b = left.get(key.left.name), right.get(key.right.name)
    if a is None or b is None or a.window is None or b.window is None or a.window.part != b.window.part:
        return None
    return WindowEquality(a.window.part, a, b) if a.window.part != "time" else None


def time_bound(part: Expr, left: Schema, right: Schema) -> TimeBound | None:
    """The bound between an event time of each side that a part of the condition is, or None.

    Both sides of a comparison may be sums of event times and INTERVALs: it is read as
    `left time - right time + constant <op> 0`.
    """
    if not isinstance(part, Op) or part.op not in _FLIPPED:
        return None
    a, b = (_linear(arg, left, right) for arg in part.args)
    if a is None or b is None:
        return None
    summed: Counter[str] = Counter()
    for name, factor in (*a.factors, *_scaled(b, -1).factors):
        summed[name] += factor
    factors = {name: factor for name, factor in summed.items() if factor}
    constant = a.constant - b.constant
    if sorted(factors.values()) != [-1, 1]:
        return None
    plus = next(name for name, factor in factors.items() if factor == 1)
    minus = next(name for name, factor in factors.items() if factor == -1)
    op = part.op
    if left.get(plus) and right.get(minus):
        # left - right + constant <op> 0, so constant <op> right - left.
        op, bound, left_time, right_time = _FLIPPED[op], constant, plus, minus
    elif right.get(plus) and left.get(minus):
        bound, left_time, right_time = -constant, minus, plus
    else:
        return None
    limit = Bound(bound, strict=op in ("<", ">"))
    return TimeBound(
        left_time,
        right_time,
        earliest=limit if op in (">", ">=", "=") else None,
        latest=limit if op in ("<", "<=", "=") else None,
        expr=part,
    )


def tightest(bounds: Iterable[Bound | None], *, earliest: bool) -> Bound | None:
    """The bound that implies all the others."""
    sign = 1 if earliest else -1
    found = (bound for bound in bounds if bound is not None)
    return max(found, key=lambda bound: (sign * bound.ms, bound.strict), default=None)


@frozen(slots=True)
class _Linear:
    """Event times with whole factors, plus milliseconds."""

    factors: tuple[tuple[str, int], ...]
    constant: int


def _linear(expr: Expr, left: Schema, right: Schema) -> _Linear | None:
    if isinstance(expr, Cast) and expr.type.sql == expr.arg.type.sql:
        # TIMESTAMP(3) and TIMESTAMP are one type in Spark.
        return _linear(expr.arg, left, right)
    if isinstance(expr, Column):
        field = left.get(expr.name) or right.get(expr.name)
        return _Linear(((field.name, 1),), 0) if field is not None and field.is_event_time else None
    if isinstance(expr, Constant):
        is_interval = isinstance(expr.type, t.Interval) and isinstance(expr.value, int)
        return _Linear((), int(expr.value or 0)) if is_interval else None
    if isinstance(expr, Op) and expr.op == "NEG":
        inner = _linear(expr.args[0], left, right)
        return None if inner is None else _scaled(inner, -1)
    if isinstance(expr, Op) and expr.op in ("+", "-"):
        first, second = (_linear(arg, left, right) for arg in expr.args)
        if first is None or second is None:
            return None
        second = second if expr.op == "+" else _scaled(second, -1)
        return _Linear((*first.factors, *second.factors), first.constant + second.constant)
    return None


def _scaled(value: _Linear, factor: int) -> _Linear:
    return _Linear(tuple((name, factor * f) for name, f in value.factors), factor * value.constant)
