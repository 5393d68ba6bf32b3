"""Reads a source as a table, once an epoch."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from compiler.jobplan.model import LookupTable
from runtime.connectors.lookups import LOOKUPS
from runtime.spark.context import Context
from runtime.spark.operators.scan import declared


def lower(op: LookupTable, _inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Hands over to the connector and keeps the declared columns, in their order."""
    rows = LOOKUPS[op.connector].read(op, ctx)
    return rows.select(*(declared(op.uid, column).alias(column.name) for column in op.columns))
