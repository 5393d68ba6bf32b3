"""Joins two streams within their windows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from compiler.jobplan.model import WindowJoin
from runtime.spark.context import Context
from runtime.spark.operators._stream_join import join, with_event_time


def lower(op: WindowJoin, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Spark's own join of two streams: an event time among the keys says when a row can go."""
    left, right = inputs
    return join(
        with_event_time(left, op.left_end),
        with_event_time(right, op.right_end),
        op.condition,
        op.kind,
        op.output,
    )
