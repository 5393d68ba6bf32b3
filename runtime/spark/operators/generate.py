"""Makes rows out of arrays and maps."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Generate
from runtime.spark.context import Context


def lower(op: Generate, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """The input's columns keep their metadata, and with it the event-time mark."""
    (rows,) = inputs
    return rows.select("*", F.expr(op.sql).alias(*op.names))
