"""Reads a source as a stream."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Scan
from runtime.connectors.sources import SOURCES
from runtime.spark.context import Context, quote


def lower(op: Scan, _inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Hands over to the connector and keeps the declared columns, in their order."""
    rows = SOURCES[op.connector].read(op, ctx)
    return rows.select(*(F.col(quote(column.name)) for column in op.columns))
