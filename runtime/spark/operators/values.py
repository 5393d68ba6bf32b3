"""Rows that are written out in a query."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from compiler.jobplan.model import Values
from runtime.spark.context import Context, quote


def lower(op: Values, _inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Spark folds the rows into a local relation."""
    rows = ", ".join(f"({', '.join(row)})" for row in op.rows)
    names = ", ".join(quote(column.name) for column in op.columns)
    query = f"SELECT * FROM VALUES {rows} AS `values` ({names})"  # noqa: S608  # of the compiler's own text
    return ctx.session.sql(query)
