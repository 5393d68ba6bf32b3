"""Aggregates that Spark refuses on a stream, in a form that it takes."""

from __future__ import annotations

from compiler.plan import types as t
from compiler.plan.expr import Call, Case, Cast, Expr, Literal, Op, conjunction


def rewrite_aggregate(expr: Expr) -> Expr:
    """COUNT(DISTINCT …) as the size of a set of the values, which is exact; others as they are.

    Spark 4.2 refuses DISTINCT aggregates on streams. `collect_set` leaves NULLs out, as COUNT does; of
    several columns a row counts only if none is NULL.
    """
    if not (isinstance(expr, Call) and expr.name == "count" and expr.distinct):
        return expr
    values = expr.args
    value = values[0] if len(values) == 1 else _all_or_null(values)
    collected = Call(
        type=t.Array(value.type, False),
        nullable=False,
        name="collect_set",
        args=(value,),
        where=expr.where,
        aggregate=True,
    )
    size = Call(t.INT, False, "size", (collected,))
    # size() is INT where count() is BIGINT.
    return Cast(t.BIGINT, False, size)


def _all_or_null(values: tuple[Expr, ...]) -> Expr:
    known = conjunction([Op(t.BOOLEAN, False, "IS NOT NULL", (value,)) for value in values])
    fields = tuple(t.StructField(f"col{i}", v.type, v.nullable) for i, v in enumerate(values, 1))
    struct = Call(t.Struct(fields), False, "struct", values)
    missing = Literal(t.NULL, True, "NULL", None)
    return Case(struct.type, True, ((known, struct),), missing)
