"""GROUP BY whose rows can be taken back, or whose groups have a time to live."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, FloatType, StringType, StructField, StructType

from compiler.jobplan.model import ChangeAggregate
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.spark.buckets.change_aggregate import AggregateSpec, ChangingAggregate, Kept
from runtime.spark.buckets.lowering import arrow_schema, bucketed
from runtime.spark.changes import are_changes
from runtime.spark.context import Context


def lower(op: ChangeAggregate, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Keys and arguments are Spark's to compute, the groups are state by bucket."""
    (rows,) = inputs
    keys = tuple(f"__key_{number}" for number in range(len(op.keys) or 1))
    named = [
        _value(rows, sql, name) for sql, name in zip([key.sql for key in op.keys] or ["0"], keys, strict=True)
    ]
    args = list(dict.fromkeys(a.sql for a in op.aggregates if a.sql is not None))
    of = {sql: f"__arg_{number}" for number, sql in enumerate(args)}
    change = [OP_COLUMN] if are_changes(rows) else []
    prepared = rows.select(*named, *(_value(rows, sql, name) for sql, name in of.items()), *change)
    values = StructType([StructField(a.name, DataType.fromDDL(a.type)) for a in op.aggregates])
    types = arrow_schema(values, rows.sparkSession)
    spec = AggregateSpec(
        schema=arrow_schema(prepared.schema, rows.sparkSession),
        keys=keys,
        names=tuple(key.name for key in op.keys),
        aggregates=tuple(
            Kept(a.name, a.function, None if a.sql is None else of[a.sql], types.field(a.name).type)
            for a in op.aggregates
        ),
        op=OP_COLUMN,
        ttl_ms=op.ttl_ms,
    )
    groups = rows.select(*(F.expr(key.sql).alias(key.name) for key in op.keys)).schema
    output = StructType([*groups, *values, StructField(OP_COLUMN, StringType(), False)])
    by = [F.col(key) for key in keys] if op.keys else []
    return bucketed(ChangingAggregate(spec), [(prepared, by)], op.buckets, output)


def _value(rows: DataFrame, sql: str, name: str) -> Column:
    """A key or an argument; floating numbers that are equal to SQL are the same bits."""
    value = F.expr(sql)
    kind = rows.select(value.alias(name)).schema[name].dataType
    if isinstance(kind, (FloatType, DoubleType)):
        value = F.when(F.isnan(value), F.lit(float("nan"))).otherwise(value + F.lit(0.0)).cast(kind)
    return value.alias(name, metadata={})
