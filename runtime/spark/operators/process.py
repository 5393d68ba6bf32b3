"""A process function: its rows and what it gives out cross into Python once, bucket by bucket."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from compiler.jobplan.model import Process
from runtime.functions.bundle import Bundle
from runtime.functions.operator import KEY, ROW, TIME, ProcessOperator
from runtime.spark.buckets.lowering import bucketed
from runtime.spark.context import Context, event_time, quote, struct_of


def lower(op: Process, inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Reads the function from the copy in the state root, so that an epoch is finished by what began it."""
    (rows,) = inputs
    keys = [F.col(quote(name)).alias(f"{KEY}{n}") for n, name in enumerate(op.key_columns)]
    time = [F.col(quote(op.time_column)).alias(TIME)] if op.time_column is not None else []
    row = F.struct(*(F.expr(item.sql).alias(item.name) for item in op.reads)).alias(ROW)
    read = rows.select(*keys, *time, row)
    given = [StructField(f"{KEY}{n}", read.schema[f"{KEY}{n}"].dataType) for n in range(len(keys))]
    output = StructType([*given, *struct_of(op.output).fields])
    zone = ctx.session.conf.get("spark.sql.session.timeZone")
    operator = ProcessOperator(
        op,
        Bundle.read(ctx.plan_dir / "functions"),
        to_arrow_schema(StructType(given), timezone=zone),
        to_arrow_schema(output, timezone=zone),
    )
    times = {op.event_time: op.delay_ms} if op.event_time is not None and op.delay_ms is not None else {}
    by = [F.col(f.name) for f in given]
    made = bucketed(operator, [(read, by)], op.buckets, output, times)
    return made.select(
        *(F.col(f.name).alias(name, metadata={}) for f, name in zip(given, op.key_columns, strict=True)),
        *(
            F.col(quote(c.name)).alias(
                c.name, metadata=event_time(op.delay_ms if c.name == op.event_time else None)
            )
            for c in op.output
        ),
    )
