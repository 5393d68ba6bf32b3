"""Scalar expressions: frozen, typed values over the columns of an operator's input.

They carry no places, but for calls that a replay may answer otherwise: whatever else can be wrong with an
expression is said while it is bound, when the place is at hand. Two expressions are equal if they compute
the same thing in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Literal as Literal_

from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan.types import BOOLEAN, DataType

# Flink's function; Spark computes it as current_timestamp(), which is the epoch's logged time.
PROCTIME = "proctime"

# Begins the names of the project's Python functions, as Spark knows them.
PYTHON = "hr_"

LiteralValue = str | int | float | bool | None


@frozen(slots=True)
class Expr:
    """Base of all expressions."""

    type: DataType
    nullable: bool

    @property
    def children(self) -> tuple[Expr, ...]:
        """The expressions that this one is made of."""
        return ()

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        """This expression over other parts, as many as before."""
        assert not children
        return self


@frozen(slots=True)
class Column(Expr):
    """A column of the input, by its exact name."""

    name: str


@frozen(slots=True)
class Literal(Expr):
    """A constant. `sql` is its Spark text; `value` what is known of it (milliseconds for intervals)."""

    sql: str
    value: LiteralValue = None


@frozen(slots=True)
class SortKey:
    """An item of ORDER BY, in OVER and WITHIN GROUP."""

    expr: Expr
    descending: bool = False
    nulls_first: bool = True


@frozen(slots=True)
class Call(Expr):
    """A function of the catalogue; `distinct`, `where` and `within` (WITHIN GROUP) belong to aggregates."""

    name: str
    args: tuple[Expr, ...]
    distinct: bool = False
    where: Expr | None = None
    aggregate: bool = False
    deterministic: bool = True
    ignore_nulls: bool = False
    within: tuple[SortKey, ...] = ()
    # Where it is written, for what can be judged only once the whole plan is known; no part of what it is.
    place: Span | None = field(default=None, compare=False, repr=False)

    @property
    def children(self) -> tuple[Expr, ...]:
        keys = tuple(key.expr for key in self.within)
        return (*self.args, *keys) if self.where is None else (*self.args, *keys, self.where)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        where = children[-1] if self.where is not None else None
        count = len(self.args)
        keys = zip(self.within, children[count:], strict=False)
        within = tuple(replace(key, expr=expr) for key, expr in keys)
        return replace(self, args=children[:count], within=within, where=where)


@frozen(slots=True)
class Op(Expr):
    """An operator with a syntax of its own: `+`, `AND`, `IS NULL`, `BETWEEN`, `[ ]` and so on."""

    op: str
    args: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, args=children)


@frozen(slots=True)
class Cast(Expr):
    """CAST(arg AS type); with `attempt`, TRY_CAST."""

    arg: Expr
    attempt: bool = False

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.arg,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, arg=children[0])


@frozen(slots=True)
class Case(Expr):
    """CASE WHEN … THEN … ELSE … END; a simple CASE has been rewritten to comparisons."""

    branches: tuple[tuple[Expr, Expr], ...]
    default: Expr | None

    @property
    def children(self) -> tuple[Expr, ...]:
        flat = tuple(part for branch in self.branches for part in branch)
        return flat if self.default is None else (*flat, self.default)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        default = children[-1] if self.default is not None else None
        flat = children[:-1] if self.default is not None else children
        branches = tuple((flat[i], flat[i + 1]) for i in range(0, len(flat), 2))
        return replace(self, branches=branches, default=default)


@frozen(slots=True)
class FieldAccess(Expr):
    """A field of a STRUCT."""

    arg: Expr
    field: str

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.arg,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, arg=children[0])


@frozen(slots=True)
class Variable(Expr):
    """A parameter of a lambda, inside its body."""

    name: str


@frozen(slots=True)
class Lambda(Expr):
    """`(x, y) -> body`, an argument of `transform`, `filter` and their like; its type is the body's."""

    parameters: tuple[str, ...]
    body: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.body,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, body=children[0])


@frozen(slots=True)
class Frame:
    """ROWS or RANGE BETWEEN … PRECEDING AND CURRENT ROW.

    Args:
        unit: what `preceding` counts: rows, or milliseconds of the ordering time.
        preceding: how far back; None is UNBOUNDED.
    """

    unit: Literal_["rows", "range"]
    preceding: int | None


@frozen(slots=True)
class Over(Expr):
    """A function OVER the rows before and around one."""

    call: Call
    partition: tuple[Expr, ...]
    order: tuple[SortKey, ...]
    frame: Frame

    @property
    def children(self) -> tuple[Expr, ...]:
        return (*self.call.children, *self.partition, *(key.expr for key in self.order))

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        call, partition = len(self.call.children), len(self.call.children) + len(self.partition)
        made = self.call.with_children(children[:call]) if call else self.call
        assert isinstance(made, Call)
        order = tuple(replace(k, expr=e) for k, e in zip(self.order, children[partition:], strict=True))
        return replace(self, call=made, partition=children[call:partition], order=order)


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all its parts, outermost first."""
    yield expr
    for child in expr.children:
        yield from walk(child)


def calls_python(expr: Expr) -> bool:
    """Whether it calls a Python function of the project."""
    return any(isinstance(part, Call) and part.name.startswith(PYTHON) for part in walk(expr))


def transform(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Replaces, from the outside in, every part for which `change` gives another; those are not entered."""
    changed = change(expr)
    if changed is not None:
        return changed
    children = expr.children
    if not children:
        return expr
    new = tuple(transform(child, change) for child in children)
    return expr if all(a is b for a, b in zip(children, new, strict=True)) else expr.with_children(new)


def columns_of(expr: Expr) -> frozenset[str]:
    """Names of the input columns that the expression reads."""
    return frozenset(part.name for part in walk(expr) if isinstance(part, Column))


def is_constant(expr: Expr) -> bool:
    """Whether its value does not depend on a row."""
    return not any(isinstance(part, (Column, Variable)) for part in walk(expr))


def is_aggregate(expr: Expr) -> bool:
    """Whether an aggregate function is somewhere inside."""
    return any(isinstance(part, Call) and part.aggregate for part in walk(expr))


def is_deterministic(expr: Expr) -> bool:
    """Whether the same row gives the same value when an epoch is replayed."""
    return all(part.deterministic for part in walk(expr) if isinstance(part, Call))


def is_processing_time(expr: Expr) -> bool:
    """Whether it is PROCTIME(): the epoch's logged time."""
    return isinstance(expr, Call) and expr.name == PROCTIME


def conjunction(parts: list[Expr]) -> Expr:
    """All of them; at least one is given."""
    result = parts[0]
    for part in parts[1:]:
        result = Op(BOOLEAN, result.nullable or part.nullable, "AND", (result, part))
    return result


def conjuncts(predicate: Expr) -> list[Expr]:
    """The parts that must all hold, in order."""
    if isinstance(predicate, Op) and predicate.op == "AND":
        return [part for arg in predicate.args for part in conjuncts(arg)]
    return [predicate]
