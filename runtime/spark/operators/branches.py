"""Makes several rows of each."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.operators.branches import Branches, rows_sql
from runtime.spark.changes import hidden
from runtime.spark.context import Context, event_time


def lower(op: Branches, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """What comes out of an array has no marks, so that event times get theirs anew."""
    (rows,) = inputs
    made = rows.select(F.expr(rows_sql(op)), *hidden(rows))
    columns = (
        F.col(f"f{place}").alias(name, metadata=event_time(op.event_times.get(name)))
        for place, name in enumerate(op.names)
    )
    return made.select(*columns, *hidden(made))
