"""Computes aggregates of sessions."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import SessionAggregate
from runtime.spark.context import Context, quote
from runtime.spark.operators.session import group_by_session, session_bounds


def lower(op: SessionAggregate, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Groups by Spark's session window and hidden copies of the keys."""
    (rows,) = inputs
    keys = {f"__key_{i}": F.col(quote(key.sql)) for i, key in enumerate(op.keys)}
    aggregates = [F.expr(item.sql).alias(f"__agg_{i}") for i, item in enumerate(op.aggregates)]
    # A grouping without aggregates is DISTINCT; Spark's API wants at least one to compute.
    aggregates = aggregates or [F.count(F.lit(1)).alias("__agg_none")]
    grouped = group_by_session(rows, op.time_column, op.gap_ms, keys, aggregates)
    columns = [
        *(F.col(name).alias(key.name) for name, key in zip(keys, op.keys, strict=True)),
        *(F.col(f"__agg_{i}").alias(item.name) for i, item in enumerate(op.aggregates)),
        *session_bounds(op.start, op.end, op.time, op.delay_ms),
    ]
    return grouped.select(*columns).select(*(F.col(quote(name)) for name in op.output))
