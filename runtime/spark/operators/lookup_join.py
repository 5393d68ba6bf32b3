"""Joins the rows of an epoch with what a table holds, which is sent to every task."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import LookupJoin
from runtime.spark.context import Context


def lower(op: LookupJoin, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Broadcasts the table."""
    rows, table = inputs
    condition = F.lit(True) if op.condition is None else F.expr(op.condition)
    return rows.join(F.broadcast(table), condition, op.kind)
