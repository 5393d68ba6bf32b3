"""Joins two streams within a span of time."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from compiler.jobplan.model import IntervalJoin
from runtime.spark.context import Context
from runtime.spark.operators._stream_join import join, with_event_time


def lower(op: IntervalJoin, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Spark's own join of two streams: it reads from the condition how long a row must be kept."""
    left, right = inputs
    return join(
        with_event_time(left, op.left_time),
        with_event_time(right, op.right_time),
        op.condition,
        op.kind,
        op.output,
    )
