"""Joins a stream with the version of a table at an event time."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BooleanType, StructField, StructType

from compiler.jobplan.model import TemporalJoin
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.spark.buckets.lowering import bucketed
from runtime.spark.buckets.temporal_join import MATCHED, TemporalJoinOperator
from runtime.spark.context import Context, event_time, quote


def lower(op: TemporalJoin, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Keys are computed beside the columns; what else must hold is looked at once a version is found."""
    rows, versions = inputs
    keys = [f"__key_{i}" for i in range(len(op.keys))]
    left = rows.select("*", *(F.expr(k.left).alias(n) for n, k in zip(keys, op.keys, strict=True)))
    right = versions.select("*", *(F.expr(k.right).alias(n) for n, k in zip(keys, op.keys, strict=True)))
    zone = rows.sparkSession.conf.get("spark.sql.session.timeZone")
    operator = TemporalJoinOperator(
        to_arrow_schema(left.schema, timezone=zone),
        to_arrow_schema(right.schema, timezone=zone),
        keys,
        op.left_time.column,
        op.right_time,
        OP_COLUMN if op.changes else None,
        outer=op.kind == "left",
    )
    both = (*rows.schema, *versions.schema)
    fields = [StructField(f.name, f.dataType) for f in both if f.name != OP_COLUMN]
    columns = [F.col(quote(key)) for key in keys]
    joined = bucketed(
        operator,
        [(left, columns), (right, columns)],
        op.buckets,
        StructType([*fields, StructField(MATCHED, BooleanType())]),
    )
    of_right = {f.name for f in versions.schema}
    matched = F.col(MATCHED)
    if op.condition is not None:
        matched = matched & F.coalesce(F.expr(op.condition), F.lit(False))
        if op.kind == "inner":
            joined = joined.where(matched)
    return joined.select(
        *(
            (
                F.when(matched, F.col(quote(column.name)))
                if op.condition is not None and op.kind == "left" and column.name in of_right
                else F.col(quote(column.name))
            ).alias(column.name, metadata=event_time(column.delay_ms))
            for column in op.output
        )
    )
