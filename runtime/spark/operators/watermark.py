"""Marks a column as event time, and settles what becomes of rows that have none."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Watermark
from runtime.spark.barrier import barrier
from runtime.spark.context import Context, quote
from runtime.spark.control import with_control
from runtime.spark.counters import NO_EVENT_TIME, count_set_aside, watch_times

# What the failure mapper looks for; Spark carries the text through its exceptions unchanged.
NULL_MARKER = "[headrace:null_event_time]"


def lower(op: Watermark, inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Checks for NULL below the watermark, since Spark's window would drop such rows without a word.

    The check is a filter: it references the event time alone, which the watermark needs anyway, so
    column pruning is not disturbed; and filters that Spark moves down land behind it.
    """
    (rows,) = inputs
    column = F.col(quote(op.column))
    if op.on_null == "drop":
        if ctx.streaming:
            rows = count_set_aside(rows, op.source, NO_EVENT_TIME, column.isNull())
        rows = rows.where(column.isNotNull())
    elif op.on_null == "fail":
        text = f"{NULL_MARKER} source={op.source} column={op.column}"
        fail = F.raise_error(F.lit(text)).cast("boolean")
        rows = rows.where(F.when(column.isNull(), fail).otherwise(F.lit(True)))
    if not ctx.streaming:
        return rows
    if ctx.watches_times:
        rows = watch_times(rows, op.source, column)
    if op.idle_timeout_ms is not None:
        return with_control(rows, op, ctx)
    # A source's watermark is that of all its rows, whatever a query keeps of them: so it is the same in every
    # query, and however queries are put together.
    return barrier(rows.withWatermark(op.column, f"{op.delay_ms} milliseconds"))
