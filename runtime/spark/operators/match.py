"""MATCH_RECOGNIZE: what concerns one row is computed by Spark, the rest by the matcher, bucket by bucket."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from compiler.jobplan.model import Match
from runtime.match.operator import KEY, ORDER, TIME, MatchOperator
from runtime.spark.buckets.lowering import bucketed
from runtime.spark.context import Context, event_time, quote


def lower(op: Match, inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Hands the matcher keys, times and what it reads; computes the measures from what it hands out."""
    (rows,) = inputs
    keys = [F.col(quote(name)).alias(f"{KEY}{n}") for n, name in enumerate(op.key_columns)]
    order = [F.col(quote(o.column)).alias(f"{ORDER}{n}") for n, o in enumerate(op.order)]
    reads = [F.expr(item.sql).alias(item.name) for item in op.reads]
    read = rows.select(*keys, F.col(quote(op.time_column)).alias(TIME), *order, *reads)
    given = [read.schema[f"{KEY}{n}"] for n in range(len(keys))]
    handed_out = StructType.fromDDL(", ".join(f"{o.name} {_kept(o.term.type)}" for o in op.outputs))
    assert isinstance(handed_out, StructType)
    output = StructType([*(StructField(f.name, f.dataType, True) for f in given), *handed_out.fields])
    zone = ctx.session.conf.get("spark.sql.session.timeZone")
    operator = MatchOperator(
        op, to_arrow_schema(read.schema, timezone=zone), to_arrow_schema(output, timezone=zone)
    )
    by = [F.col(f.name) for f in given]
    matches = bucketed(operator, [(read, by)], op.buckets, output)
    return matches.select(
        *(F.col(f.name).alias(name, metadata={}) for f, name in zip(given, op.key_columns, strict=True)),
        *(
            F.expr(item.sql).alias(
                item.name, metadata=event_time(op.delay_ms if item.name in op.rowtimes else None)
            )
            for item in op.measures
        ),
    )


def _kept(type_: str) -> str:
    """The type of a value on its way through the matcher: times and spans of time are whole numbers."""
    if type_ == "TIMESTAMP" or type_.startswith("INTERVAL"):
        return "BIGINT"
    return {"DATE": "INT", "VOID": "BOOLEAN"}.get(type_, type_)
