"""The first of equal rows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from compiler.jobplan.model import Distinct
from runtime.spark.buckets.lowering import arrow_schema, bucketed, key_columns
from runtime.spark.buckets.top_n import FirstByArrival, Spec
from runtime.spark.context import Context, event_time, quote


def lower(op: Distinct, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Spark's dropDuplicates, with the event-time mark on the one column that ends the memory of a row.

    Of several marked columns Spark takes the first, whichever it is; the others get theirs back afterwards.
    """
    (rows,) = inputs
    if op.ttl_ms is not None and rows.isStreaming:
        return _kept_by_bucket(op, rows)
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


def _kept_by_bucket(op: Distinct, rows: DataFrame) -> DataFrame:
    """The first row of a group that is made of all columns."""
    plain = rows.select(*(F.col(quote(c.name)) for c in op.columns))
    keys, named = key_columns([quote(c.name) for c in op.columns], plain)
    prepared = plain.select("*", *named)
    schema = arrow_schema(prepared.schema, rows.sparkSession)
    operator = FirstByArrival(Spec(schema, keys, order=(), limit=1, ttl_ms=op.ttl_ms))
    by = [F.col(key) for key in keys]
    return bucketed(operator, [(prepared, by)], op.buckets, StructType(list(plain.schema)))
