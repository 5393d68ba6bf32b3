"""Reads a source as a stream."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Column, Scan
from runtime.connectors.sources import SOURCES
from runtime.spark.context import Context, quote

# What the failure mapper looks for.
NULL_MARKER = "[headrace:null_value]"


def lower(op: Scan, _inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Hands over to the connector and keeps the declared columns, in their order."""
    rows = SOURCES[op.connector].read(op, ctx)
    return rows.select(*(_column(op, column).alias(column.name) for column in op.columns))


def _column(op: Scan, column: Column) -> SparkColumn:
    """NOT NULL is checked where the column is used: Spark takes every column of a file for nullable."""
    value = F.col(quote(column.name))
    if column.name in op.metadata:
        value = value.cast(column.type)
    if column.nullable:
        return value
    text = f"{NULL_MARKER} source={op.uid} column={column.name}"
    return F.coalesce(value, F.raise_error(F.lit(text)).cast(column.type))
