"""The first of equal rows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Distinct
from runtime.spark.context import Context, event_time, quote


def lower(op: Distinct, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Spark's dropDuplicates, with the event-time mark on the one column that ends the memory of a row.

    Of several marked columns Spark takes the first, whichever it is; the others get theirs back afterwards.
    """
    (rows,) = inputs
    marked = rows.select(
        *(
            F.col(quote(c.name)).alias(
                c.name, metadata=event_time(c.delay_ms if c.name == op.event_time else None)
            )
            for c in op.columns
        )
    )
    first = marked.dropDuplicates([column.name for column in op.columns])
    return first.select(
        *(F.col(quote(c.name)).alias(c.name, metadata=event_time(c.delay_ms)) for c in op.columns)
    )
