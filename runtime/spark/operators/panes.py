"""Partial values of panes: of each row by itself in a stream, of an epoch's rows together ahead of it."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Panes
from compiler.jobplan.operators import panes_sql
from runtime.spark.context import Context, quote

_MICROSECONDS = "__headrace_us"


def lower(op: Panes, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Each row as a pane of its own, which needs no exchange and no state."""
    (rows,) = inputs
    return _keyed(op, rows).select(
        *_keys(op),
        F.col(quote(op.time_column)),
        *(F.col(slot.name) for slot in op.slots),
        *(F.expr(partial.single).alias(partial.name) for partial in op.partials),
        F.when(F.col(panes_sql.FIRST), 1).otherwise(0).cast("bigint").alias(op.rows),
    )


def together(op: Panes, rows: DataFrame) -> DataFrame:
    """The rows of an epoch, a batch, put together: the same columns, one row for each pane and key."""
    keys = [*_keys(op), *(F.col(slot.name) for slot in op.slots)]
    grouped = (
        _keyed(op, rows)
        .groupBy(*keys)
        .agg(
            F.max(quote(op.time_column)).alias(op.time_column),
            *(F.expr(partial.sql).alias(partial.name) for partial in op.partials),
            F.count_if(panes_sql.FIRST).alias(op.rows),
        )
    )
    return grouped.select(
        *_keys(op),
        F.col(quote(op.time_column)),
        *(F.col(slot.name) for slot in op.slots),
        *(F.col(partial.name) for partial in op.partials),
        F.col(op.rows),
    )


def _keyed(op: Panes, rows: DataFrame) -> DataFrame:
    """A row once for each group that takes it, with its pane and its keys."""
    columns = [F.col(quote(name)) for name in rows.columns]
    only = panes_sql.only_group(op)
    timed = rows.select(*columns, F.unix_micros(F.col(quote(op.time_column))).alias(_MICROSECONDS))
    if only is not None:
        grouped = timed.select("*", F.expr(only).alias(op.group), F.lit(True).alias(panes_sql.FIRST))
    else:
        made = timed.select("*", F.expr(panes_sql.groups(op)).alias(op.group, panes_sql.FIRST))
        grouped = made.where(f"{op.group} IS NOT NULL")
    return grouped.select(
        *columns,
        F.col(op.group),
        F.col(panes_sql.FIRST),
        F.expr(f"timestamp_micros({panes_sql.pane(op, _MICROSECONDS)})").alias(op.pane),
        *(F.expr(panes_sql.slot(op, slot.name, slot.type)).alias(slot.name) for slot in op.slots),
    )


def _keys(op: Panes) -> list[Column]:
    return [F.col(op.group), F.col(op.pane)]
