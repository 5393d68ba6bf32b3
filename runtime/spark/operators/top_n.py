"""Keeps the first rows of each group."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from compiler.jobplan.model import TopN
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.spark.buckets import BucketOperator
from runtime.spark.buckets.lowering import (
    arrow_schema,
    bucketed,
    key_columns,
    order_columns,
    same_columns,
    sort_column,
)
from runtime.spark.buckets.retracting_top_n import RetractingTopN
from runtime.spark.buckets.top_n import ChangingTopN, ClosedTopN, FirstByArrival, FirstByTime, Spec
from runtime.spark.changes import HIDDEN, hidden, visible
from runtime.spark.context import Context, quote

_OPERATORS: dict[str, type[BucketOperator]] = {
    "closed": ClosedTopN,
    "first_by_time": FirstByTime,
    "first_by_arrival": FirstByArrival,
    "changes": ChangingTopN,
}
_RANK = "__rank"


def lower(op: TopN, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """State by bucket on a stream; Spark's own window function on rows that all are there."""
    (rows,) = inputs
    if not rows.isStreaming:
        return _static(op, rows)
    retracting = op.emit == "retracting"
    columns = [name for name in rows.columns if name not in HIDDEN]
    # The others' state has hidden columns for all of them.
    at_hand = columns if retracting else ()
    keys, named_keys = key_columns(op.keys, rows, at_hand)
    order, named_order = order_columns(op.order, at_hand)
    same, nested = same_columns(columns, rows) if retracting else ((), [])
    kept = rows.select(*visible(rows), *named_keys, *named_order, *nested)
    prepared = rows.select(*visible(rows), *named_keys, *named_order, *nested, *hidden(rows))
    spec = Spec(
        schema=arrow_schema(kept.schema, rows.sparkSession),
        keys=keys,
        order=order,
        limit=op.limit,
        rank=op.rank,
        time=op.time_column,
        latest=op.latest,
        ttl_ms=op.ttl_ms,
        op=OP_COLUMN,
        former=frozenset(
            [*(f"__key_{n}" for n in range(len(keys))), *(f"__order_{n}" for n in range(len(order)))]
        ),
    )
    output = [field for field in rows.schema if field.name not in HIDDEN]
    if op.rank is not None:
        output.append(StructField(op.rank, IntegerType(), False))
    if op.emit in ("changes", "retracting"):
        output.append(StructField(OP_COLUMN, StringType(), False))
    by = [F.col(quote(key)) for key in keys]
    made: BucketOperator = (
        RetractingTopN(spec, same) if retracting else _OPERATORS[op.emit](spec)  # type: ignore[call-arg]  # each takes a Spec
    )
    return bucketed(made, [(prepared, by)], op.buckets, StructType(output), op.event_times)


def _static(op: TopN, rows: DataFrame) -> DataFrame:
    order: list[Column] = [sort_column(sort) for sort in op.order]
    window = Window.partitionBy(*(F.expr(key) for key in op.keys)).orderBy(*(order or [F.lit(0)]))
    numbered = rows.withColumn(_RANK, F.row_number().over(window)).where(F.col(_RANK) <= op.limit)
    return numbered.drop(_RANK) if op.rank is None else numbered.withColumnRenamed(_RANK, op.rank)
