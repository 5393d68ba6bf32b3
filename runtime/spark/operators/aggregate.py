"""Groups rows and computes aggregates."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Aggregate
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.spark.barrier import barrier
from runtime.spark.changes import UPDATE
from runtime.spark.context import Context, event_time

# Names of the keys inside the state store, out of the way of the input's columns. The one that closes a
# group has its own, so that whoever reads the store finds it.
TIME_KEY = "__key_time"


def lower(op: Aggregate, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Groups by hidden copies of the keys, of which exactly one carries the event-time mark.

    Spark takes the first marked grouping column, whichever it is; so the mark is set on the key that
    closes the group and taken off all others.
    """
    (rows,) = inputs
    names = [TIME_KEY if key.name == op.event_time_key else f"__key_{i}" for i, key in enumerate(op.keys)]
    keyed = rows.select(
        "*",
        *(
            F.expr(key.sql).alias(
                name, metadata=event_time(op.delay_ms if key.name == op.event_time_key else None)
            )
            for name, key in zip(names, op.keys, strict=True)
        ),
    )
    # A grouping without aggregates is DISTINCT; Spark's API wants at least one to compute.
    aggregates = [F.expr(item.sql).alias(f"__agg_{i}") for i, item in enumerate(op.aggregates)]
    grouped = keyed.groupBy(*names).agg(*(aggregates or [F.count(F.lit(1)).alias("__agg_none")]))
    if op.event_time_key is not None:
        grouped = barrier(grouped)
    columns = {key.name: F.col(name) for name, key in zip(names, op.keys, strict=True)}
    columns |= {item.name: F.col(f"__agg_{i}") for i, item in enumerate(op.aggregates)}
    if op.window_time is not None:
        # Its expression is over the key's name, which at this point is still the hidden one.
        over_keys = grouped.select(
            "*", *(F.col(n).alias(k.name) for n, k in zip(names, op.keys, strict=True))
        )
        grouped = over_keys.select(
            *(F.col(n) for n in grouped.columns), F.expr(op.window_time.sql).alias("__time")
        )
        columns[op.window_time.name] = F.col("__time")
    marked = {op.window_time.name} if op.window_time is not None else set()
    return grouped.select(
        *(
            columns[name].alias(name, metadata=event_time(op.delay_ms))
            if name in marked
            else columns[name].alias(name)
            for name in op.output
        ),
        # Spark does not say whether it had the group before.
        *([F.lit(UPDATE).alias(OP_COLUMN)] if op.upsert else []),
    )
