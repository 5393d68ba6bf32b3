"""Keeps the rows for which a predicate is true."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Filter
from runtime.spark.changes import each_by_itself, keep_if
from runtime.spark.context import Context


def lower(op: Filter, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """SQL's WHERE: neither false nor NULL passes."""
    (rows,) = inputs
    if op.by_row:
        return each_by_itself(rows.where(F.expr(op.predicate)))
    return keep_if(rows, F.expr(op.predicate))
