"""Joins two tables that change."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from compiler.jobplan.model import ChangeJoin
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.spark.buckets.change_join import ChangeJoiner, ChangeJoinSpec, Side
from runtime.spark.buckets.lowering import arrow_schema, bucketed, key_columns, same_columns
from runtime.spark.changes import are_changes, each_by_itself
from runtime.spark.context import Context, quote


def lower(op: ChangeJoin, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Keys are Spark's to compute, and what else must hold is looked at pair by pair.

    Rows that only ever come cross into Python without an operation.
    """
    prepared: list[tuple[DataFrame, list[Column]]] = []
    sides: list[Side] = []
    for number, (given, columns) in enumerate(zip(inputs, op.columns, strict=True)):
        of_side = [pair.right if number else pair.left for pair in op.keys]
        keys, named = key_columns(of_side, given, columns, f"__key_{number}")
        same, nested = same_columns(columns, given, f"__same_{number}")
        # Only the columns: marks of event times end here.
        plain = [F.col(quote(name)).alias(name, metadata={}) for name in columns]
        operation = [OP_COLUMN] if are_changes(given) else []
        rows = given.select(*plain, *named, *nested, *operation)
        schema = arrow_schema(rows.drop(OP_COLUMN).schema, rows.sparkSession)
        outer = op.kind in ("full", "right" if number else "left")
        former = frozenset(f"__key_{number}_{place}" for place in range(len(keys)))
        sides.append(Side(schema, keys, same, columns, outer, former))
        prepared.append((rows, [F.col(quote(key)) for key in keys]))
    spec = ChangeJoinSpec((sides[0], sides[1]), op.key, OP_COLUMN, op.ttl_ms)
    fields = [
        StructField(name, rows.schema[name].dataType)
        for (rows, _), columns in zip(prepared, op.columns, strict=True)
        for name in columns
    ]
    output = StructType([*fields, StructField(OP_COLUMN, StringType(), False)])
    joined = bucketed(ChangeJoiner(spec), prepared, op.buckets, output)
    return joined if op.condition is None else each_by_itself(joined.where(F.expr(op.condition)))
