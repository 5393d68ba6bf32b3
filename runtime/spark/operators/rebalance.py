"""Moves rows to other tasks."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from compiler.jobplan.model import Rebalance
from runtime.spark.context import Context, quote


def lower(op: Rebalance, inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Changes of one key stay together, and in their order by what they carry."""
    (rows,) = inputs
    partitions = op.partitions or int(ctx.session.conf.get("spark.sql.shuffle.partitions") or 1)
    return rows.repartition(partitions, *(quote(key) for key in op.keys))
