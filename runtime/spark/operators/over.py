"""Computes functions over the rows before each."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from compiler.jobplan.model import Over, OverFunction
from runtime.spark.buckets.lowering import arrow_schema, bucketed, key_columns
from runtime.spark.buckets.over import Function, OverRows, Spec
from runtime.spark.context import Context, struct_of


def lower(op: Over, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """State by bucket on a stream; Spark's own window functions on rows that all are there."""
    (rows,) = inputs
    if not rows.isStreaming:
        return rows.select("*", *(F.expr(fn.sql).cast(fn.type).alias(fn.name) for fn in op.functions))
    assert op.time_column is not None
    keys, named_keys = key_columns(op.keys, rows)
    args = [column for number, function in enumerate(op.functions) for column in _arguments(function, number)]
    prepared = rows.select("*", *named_keys, *args)
    added = struct_of(op.functions)
    types = arrow_schema(added, rows.sparkSession)
    functions = tuple(
        Function(
            name=function.name,
            function=function.function,
            arg=f"__arg_{number}",
            type=types.field(function.name).type,
            unit=function.unit,
            preceding=function.preceding,
            offset=function.offset,
            default=f"__default_{number}" if len(function.args) > 1 and function.function == "lag" else None,
            ignore_nulls=function.ignore_nulls,
        )
        for number, function in enumerate(op.functions)
    )
    spec = Spec(arrow_schema(prepared.schema, rows.sparkSession), keys, op.time_column, functions, op.ttl_ms)
    output = StructType([*rows.schema.fields, *added.fields])
    by = [F.col(key) for key in keys]
    return bucketed(OverRows(spec), [(prepared, by)], op.buckets, output, op.event_times)


def _arguments(function: OverFunction, number: int) -> list[Column]:
    """Hidden columns of a function's arguments; of what is counted, NULL where a row does not count."""
    args = [F.expr(arg) for arg in function.args]
    if function.function in ("count", "row_number"):
        counted = F.lit(True)
        for arg in args:
            counted = counted & arg.isNotNull()
        args = [F.when(counted, F.lit(1))]
    elif function.function in ("sum", "min", "max"):
        args = [args[0].cast(function.type)]
    if function.where is not None:
        args = [F.when(F.expr(function.where), args[0])]
    names = (f"__arg_{number}", f"__default_{number}")
    return [arg.alias(name, metadata={}) for arg, name in zip(args[:2], names, strict=False)]
