"""Several window aggregates as one scan, one shuffle and one state store.

Each row is exploded to one row per branch and window; the branch's number is the first key of the state. A
plain column with the mark of an event time closes groups as Spark's window struct does.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.operators import fused_sql
from compiler.jobplan.operators.fused_aggregate import FusedAggregate
from runtime.spark.context import Context, event_time, quote
from runtime.spark.operators.aggregate import TIME_KEY

_MICROSECONDS = "__headrace_us"
_MARK = "__headrace_mark"


def lower(op: FusedAggregate, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Explodes, computes the keys of each branch into the slots, and groups once."""
    (rows,) = inputs
    columns = [F.col(quote(name)) for name in rows.columns]
    time = F.unix_micros(F.col(quote(op.time_column)))
    timed = rows.select(*columns, time.alias(_MICROSECONDS))
    marks = F.expr(f"inline({fused_sql.marks(op, _MICROSECONDS)})").alias(op.branch, _MARK)
    exploded = timed.select(*columns, marks).where(f"{op.branch} IS NOT NULL")
    bounded = exploded.select(
        *columns,
        F.col(op.branch),
        F.expr(f"timestamp_micros({fused_sql.start_us(op, _MARK)})").alias(op.start),
        F.timestamp_micros(F.col(_MARK)).alias(op.end),
        F.expr(f"timestamp_micros({_MARK} - 1000)").alias(op.time),
    )
    condition = fused_sql.window_condition(op)
    if condition is not None:
        bounded = bounded.where(condition)
    keyed = bounded.select(
        "*",
        F.col(op.end).alias(TIME_KEY, metadata=event_time(op.delay_ms)),
        *(F.expr(fused_sql.slot(op, slot.name, slot.type)).alias(slot.name) for slot in op.slots),
    )
    grouped = keyed.groupBy(op.branch, TIME_KEY, *(slot.name for slot in op.slots)).agg(
        *(F.expr(value.sql).alias(value.name) for value in op.values)
    )
    return grouped.withColumnRenamed(TIME_KEY, op.end)
