"""Joins two streams without a bound in event time."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import RegularJoin
from runtime.spark.context import Context
from runtime.spark.operators._stream_join import join, with_event_time

_LEFT_ARRIVAL, _RIGHT_ARRIVAL = "__headrace_arrival_left", "__headrace_arrival_right"


def lower(op: RegularJoin, inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """With a TTL it is an interval join over the times of arrival, which are the epochs' logged times.

    Whether two rows meet hangs on these times alone, so a replay gives the same rows. The watermark decides
    only when a row is really forgotten: it is the least of all watermarks of the query.
    """
    left, right = (with_event_time(rows, None) for rows in inputs)
    condition = op.condition
    if op.state_ttl_ms is not None:
        left, right = _arriving(left, _LEFT_ARRIVAL, ctx), _arriving(right, _RIGHT_ARRIVAL, ctx)
        ttl = f"INTERVAL '{op.state_ttl_ms / 1000:.3f}' SECOND"
        condition = (
            f"({condition}) AND {_RIGHT_ARRIVAL} >= {_LEFT_ARRIVAL} - {ttl} "
            f"AND {_RIGHT_ARRIVAL} <= {_LEFT_ARRIVAL} + {ttl}"
        )
    return join(left, right, condition, "inner", op.output)


def _arriving(rows: DataFrame, column: str, ctx: Context) -> DataFrame:
    rows = rows.withColumn(column, F.current_timestamp())
    return rows.withWatermark(column, "0 seconds") if ctx.streaming else rows
