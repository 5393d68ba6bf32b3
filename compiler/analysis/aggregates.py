"""Aggregates that Spark refuses on a stream, in a form that it takes."""

from __future__ import annotations

from dataclasses import replace

from compiler.analysis.distinct import rewrite_distinct
from compiler.functions.kinds import is_ordered
from compiler.plan import types as t
from compiler.plan.expr import Call, Column, Expr, Literal, Op, SortKey, conjunction
from compiler.plan.schema import Schema


def rewrite_aggregate(expr: Expr, schema: Schema) -> Expr:
    """An aggregate as a stream can run it, so that a replay gives the same; others as they are.

    - An aggregate of DISTINCT values is one of a set of them: Spark 4.2 refuses DISTINCT on streams.
    - FIRST_VALUE and LAST_VALUE are by event time, and LISTAGG joins in its order: to Spark, the order of the
      rows of a group is that of their arrival after a shuffle, which a replay may change.

    Args:
        expr: the aggregate.
        schema: columns of the rows that are grouped.
    """
    if not isinstance(expr, Call):
        return expr
    if expr.distinct:
        return rewrite_distinct(expr)
    rowtime = row_time(schema)
    if rowtime is None:
        return expr
    if expr.name in _BY_TIME:
        return _by_time(expr, rowtime)
    if expr.name in ("listagg", "string_agg") and not expr.within and not expr.distinct:
        return replace(expr, within=(SortKey(rowtime), SortKey(expr.args[0])))
    return expr


def row_time(schema: Schema) -> Column | None:
    """The event time of the rows that are grouped, by which they have an order."""
    time = next((f for f in schema if f.is_event_time and f.window is None), None)
    return None if time is None else Column(time.type, time.nullable, time.name)


# The value of the first and of the last row.
_BY_TIME = {"first": "min_by", "first_value": "min_by", "last": "max_by", "last_value": "max_by"}


def _by_time(expr: Call, rowtime: Expr) -> Expr:
    value, *flags = expr.args
    place = rowtime
    if is_ordered(value.type):
        # Rows of one time are told apart by the value.
        fields = (t.StructField("col1", rowtime.type, rowtime.nullable), t.StructField("col2", value.type))
        place = Call(t.Struct(fields), False, "struct", (rowtime, value))
    ignore = expr.ignore_nulls or any(isinstance(flag, Literal) and flag.value is True for flag in flags)
    where = [expr.where] if expr.where is not None else []
    if ignore:
        where.append(Op(t.BOOLEAN, False, "IS NOT NULL", (value,)))
    return Call(
        type=expr.type,
        nullable=expr.nullable,
        name=_BY_TIME[expr.name],
        args=(value, place),
        where=conjunction(where) if where else None,
        aggregate=True,
    )
