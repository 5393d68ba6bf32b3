"""Aggregates in two steps: over the rows of a pane, and over what panes have given.

`sum(x)` is the sum of the panes' sums, `avg(x)` their sums by their counts, and so on; what cannot be put
together from parts (`count(DISTINCT x)`, `stddev(x)`, a list of values) is not taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from compiler.frozen import frozen
from compiler.plan.expr import Call, Case, Cast, Column, Expr, Literal, Op, conjunction, transform
from compiler.plan.types import BIGINT, BOOLEAN, DOUBLE, DataType, Decimal, is_integral, is_numeric

_ONE: Final = Literal(BIGINT, False, "1L", 1)
_NONE: Final = Literal(BIGINT, False, "0L", 0)


@frozen
class Part:
    """What a pane gives for an aggregate.

    Args:
        call: the aggregate over the pane's rows.
        merge: the aggregate over what panes have given, by its name.
        one: the same of a single row that counts.
        absent: the same of a row that does not, None for NULL.
    """

    call: Call
    merge: str
    one: Expr
    absent: Expr | None = None

    @property
    def type(self) -> DataType:
        """Of its column."""
        return self.call.type

    def single(self, condition: Expr) -> Expr:
        """What a pane gives whose only row counts if it meets the condition."""
        return Case(self.type, True, ((condition, self.one),), self.absent)


@frozen
class Split:
    """An aggregate in two steps.

    Args:
        result: the aggregate, over columns named by `part_column`: of each of the parts, put together.
        parts: what panes give.
    """

    result: Expr
    parts: tuple[Part, ...]


def part_column(number: int) -> str:
    """How `Split.result` calls the part of that number, counted from 0."""
    return f"__headrace_part{number}"


def split_aggregate(expr: Expr) -> Split | None:
    """An expression over aggregates in two steps; None if one cannot be put together from parts."""
    parts: list[Part] = []
    whole = True

    def taken_apart(part: Expr) -> Expr | None:
        nonlocal whole
        if not (isinstance(part, Call) and part.aggregate):
            return None
        rule = None if part.distinct or part.within else _RULES.get(part.name)
        found = rule(part, len(parts)) if rule is not None else None
        if found is None:
            whole = False
            return part
        result, own = found
        parts.extend(replace(p, call=replace(p.call, where=part.where)) for p in own)
        return result

    result = transform(expr, taken_apart)
    return Split(result, tuple(parts)) if whole else None


_Found = tuple[Expr, tuple[Part, ...]] | None


def _aggregate(name: str, type_: DataType, *args: Expr) -> Call:
    return Call(type_, True, name, args, aggregate=True)


def _merged(type_: DataType, number: int) -> Expr:
    return Column(type_, True, part_column(number))


def _alike(name: str) -> Callable[[Call, int], _Found]:
    """For what is merged as it is computed: the least of what is least."""

    def rule(call: Call, number: int) -> _Found:
        part = Part(_aggregate(name, call.type, *call.args), name, call.args[0])
        return _merged(call.type, number), (part,)

    return rule


def _sum(call: Call, number: int) -> _Found:
    (arg,) = call.args
    if not is_numeric(arg.type):
        return None
    summed = Part(_aggregate("sum", call.type, arg), "sum", Cast(call.type, arg.nullable, arg))
    merged = _merged(call.type, number)
    # The sum of decimals has ten digits more than they have, and the sum of sums another ten.
    return Cast(call.type, True, merged) if isinstance(call.type, Decimal) else merged, (summed,)


def _count(call: Call, number: int) -> _Found:
    seen: list[Expr] = [Op(BOOLEAN, False, "IS NOT NULL", (arg,)) for arg in call.args if arg.nullable]
    condition = conjunction(seen) if seen else None
    one = Case(BIGINT, False, ((condition, _ONE),), _NONE) if condition is not None else _ONE
    counted = Part(Call(BIGINT, False, "count", call.args, aggregate=True), "sum", one, _NONE)
    return _total(number), (counted,)


def _count_if(call: Call, number: int) -> _Found:
    one = Case(BIGINT, False, ((call.args[0], _ONE),), _NONE)
    counted = Part(Call(BIGINT, False, "count_if", call.args, aggregate=True), "sum", one, _NONE)
    return _total(number), (counted,)


def _total(number: int) -> Expr:
    """Counts are never NULL, not even where there is nothing to count."""
    return Call(BIGINT, False, "coalesce", (_merged(BIGINT, number), _NONE))


def _avg(call: Call, number: int) -> _Found:
    (arg,) = call.args
    if not (is_integral(arg.type) or (is_numeric(arg.type) and not isinstance(arg.type, Decimal))):
        # The mean of decimals is rounded in a way of its own.
        return None
    value = Cast(DOUBLE, arg.nullable, arg)
    counted = _count(replace(call, name="count"), number + 1)
    assert counted is not None
    summed = Part(_aggregate("sum", DOUBLE, value), "sum", value)
    sums, counts = _merged(DOUBLE, number), _merged(BIGINT, number + 1)
    return Call(DOUBLE, True, "try_divide", (sums, counts)), (summed, *counted[1])


_RULES: Final[dict[str, Callable[[Call, int], _Found]]] = {
    "avg": _avg,
    "bit_and": _alike("bit_and"),
    "bit_or": _alike("bit_or"),
    "bit_xor": _alike("bit_xor"),
    "bool_and": _alike("bool_and"),
    "bool_or": _alike("bool_or"),
    "any": _alike("bool_or"),
    "every": _alike("bool_and"),
    "some": _alike("bool_or"),
    "count": _count,
    "count_if": _count_if,
    "max": _alike("max"),
    "mean": _avg,
    "min": _alike("min"),
    "sum": _sum,
}
