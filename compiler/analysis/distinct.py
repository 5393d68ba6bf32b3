"""Aggregates over DISTINCT values, which Spark refuses on a stream, in a form that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.functions.kinds import holds
from compiler.plan import types as t
from compiler.plan.expr import Call, Case, Cast, Expr, Lambda, Literal, Op, Variable, conjunction
from compiler.plan.schema import Schema

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

# Values that come twice change nothing in these.
_OF_A_SET: Final = frozenset(
    "any approx_count_distinct bit_and bit_or bool_and bool_or collect_set every max min some".split()
)
DISTINCT: Final = frozenset({"count", "sum", "avg", "mean", "collect_list", "array_agg"}) | _OF_A_SET
"""The aggregate functions that can be given DISTINCT values."""

_FIX: Final = "compare what is in it, or its text: to_json(…)"


def check_set(binder: ExpressionBinder, name: str, args: Sequence[Expr], trees: Sequence[exp.Expr]) -> None:
    """Refuses DISTINCT over values that a set cannot have.

    Raises:
        DiagnosticError: HR206.
    """
    for arg, tree in zip(args, trees, strict=True):
        if holds(arg.type, _is_map):
            message = f"DISTINCT inside `{name}` cannot take {arg.type}"
            raise binder.error(codes.TYPE_MISMATCH, message, tree, cause=_cause("MAP"), fix=_FIX)


def check_rows(schema: Schema, what: str, span: Span) -> None:
    """Refuses to remove duplicates of rows that cannot be told from one another.

    Raises:
        DiagnosticError: HR206.
    """
    for field in schema:
        problem = incomparable(field.type)
        if problem is not None:
            message = f"{what} cannot take column `{field.name}`, {field.type}"
            raise DiagnosticError(Diagnostic(codes.TYPE_MISMATCH, message, span, cause=problem, fix=_FIX))


def incomparable(found: t.DataType) -> str | None:
    """Why rows cannot be told apart by values of a type; None if they can."""
    if holds(found, _is_map):
        return _cause("MAP")
    return _cause("VARIANT") if holds(found, _is_variant) else None


def _cause(word: str) -> str:
    return f"Spark does not compare values of {word}, so it cannot tell which are the same"


def _is_map(found: t.DataType) -> bool:
    return isinstance(found, t.Map)


def _is_variant(found: t.DataType) -> bool:
    return found == t.VARIANT


def rewrite_distinct(expr: Call) -> Expr:
    """An aggregate over DISTINCT values as one over a set of them, which is exact.

    Spark 4.2 refuses DISTINCT aggregates on streams. `collect_set` leaves NULLs out, as they all do, and
    takes for equal what DISTINCT takes for equal (0.0 and -0.0, NaN and NaN).
    """
    if expr.name in _OF_A_SET:
        return replace(expr, distinct=False)
    found = _set_of(expr)
    if expr.name == "count":
        # size() is INT where count() is BIGINT.
        return Cast(t.BIGINT, False, _size(found))
    if expr.name in ("collect_list", "array_agg"):
        return found
    value = expr.args[0].type
    return _sum(found, value, expr.type) if expr.name == "sum" else _mean(found, value, expr.type)


def _set_of(call: Call) -> Expr:
    """The values of the arguments; of several columns a row counts only if none is NULL."""
    values = call.args
    value = values[0] if len(values) == 1 else _all_or_null(values)
    return Call(
        type=t.Array(value.type, False),
        nullable=False,
        name="collect_set",
        args=(value,),
        where=call.where,
        aggregate=True,
    )


def _size(array: Expr) -> Expr:
    return Call(t.INT, False, "size", (array,))


def _sum(values: Expr, value: t.DataType, result: t.DataType) -> Expr:
    """The sum of an array, NULL if it is empty; each step has the type of the result, as in `sum`."""
    nothing = Cast(result, True, Literal(t.NULL, True, "NULL", None))
    so_far, one = Variable(result, True, "so_far"), Variable(value, False, "one")
    start = Cast(result, False, one)
    added = Cast(result, True, Op(result, True, "+", (so_far, one)))
    is_first = Op(t.BOOLEAN, False, "IS NULL", (so_far,))
    step = Case(result, True, ((is_first, start),), added)
    merged = Lambda(result, True, ("so_far", "one"), step)
    return Call(result, True, "aggregate", (values, nothing, merged))


def _mean(values: Expr, value: t.DataType, result: t.DataType) -> Expr:
    """The mean of an array, NULL if it is empty. Decimals have room for the sum, as in `avg`."""
    if isinstance(value, t.Decimal):
        total: t.DataType = t.Decimal(min(value.precision + 10, 38), value.scale)
    else:
        total = result
    number = Call(t.INT, True, "nullif", (_size(values), Literal(t.INT, False, "0", 0)))
    return Cast(result, True, Op(result, True, "/", (_sum(values, value, total), number)))


def _all_or_null(values: tuple[Expr, ...]) -> Expr:
    known = conjunction([Op(t.BOOLEAN, False, "IS NOT NULL", (value,)) for value in values])
    fields = tuple(t.StructField(f"col{i}", v.type, v.nullable) for i, v in enumerate(values, 1))
    struct = Call(t.Struct(fields), False, "struct", values)
    missing = Literal(t.NULL, True, "NULL", None)
    return Case(struct.type, True, ((known, struct),), missing)
