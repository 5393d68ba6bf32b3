"""Changes that bring the row before them."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from compiler.jobplan.model import Normalize
from compiler.jobplan.operators.base import OP_COLUMN, SEQUENCE_COLUMN
from runtime.spark.buckets.lowering import arrow_schema, bucketed, key_columns
from runtime.spark.buckets.normalize import Normalizer, NormalizeSpec
from runtime.spark.changes import are_changes, visible
from runtime.spark.context import Context, quote

_ORDER = ("at", "place", "part", "row")


def lower(op: Normalize, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """The last row of each key in state by bucket; the changes of an epoch in the order of their arrival."""
    (rows,) = inputs
    if not are_changes(rows):
        # Of rows that all are there, none is taken back.
        return rows
    keys, named = key_columns([quote(key) for key in op.keys] or ["0"], rows)
    plain = rows.select(*visible(rows), *named)
    known = SEQUENCE_COLUMN in rows.columns
    order = tuple(f"__order_{part}" for part in _ORDER) if known else ()
    arrival = [
        F.col(f"{SEQUENCE_COLUMN}.{part}").alias(name) for part, name in zip(_ORDER, order, strict=False)
    ]
    spec = NormalizeSpec(
        schema=arrow_schema(plain.schema, rows.sparkSession),
        keys=keys,
        op=OP_COLUMN,
        order=order,
        ttl_ms=op.ttl_ms,
    )
    prepared = rows.select(*visible(rows), *named, OP_COLUMN, *arrival)
    columns = [f for f in rows.schema if f.name not in (OP_COLUMN, SEQUENCE_COLUMN)]
    output = StructType([*columns, StructField(OP_COLUMN, StringType(), False)])
    by = [F.col(key) for key in keys] if op.keys else []
    return bucketed(Normalizer(spec), [(prepared, by)], op.buckets, output)
