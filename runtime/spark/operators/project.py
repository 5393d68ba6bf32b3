"""Computes output columns."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Project
from runtime.spark.changes import hidden
from runtime.spark.context import Context


def lower(op: Project, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """An alias of a plain column carries its metadata along, and with it the event-time mark."""
    (rows,) = inputs
    return rows.select(*(F.expr(item.sql).alias(item.name) for item in op.items), *hidden(rows))
