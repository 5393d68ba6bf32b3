"""Assigns rows to sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Session
from runtime.spark.barrier import barrier
from runtime.spark.context import Context, event_time, quote

SESSION = "__headrace_session"
# The part of the key that Spark adds to the state of a session window.
SESSION_KEY = "sessionStartTime"
_ROWS = "__headrace_rows"
_MILLISECOND = "INTERVAL '0.001' SECOND"


def lower(op: Session, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Collects the rows of a session, and gives them out with its bounds when it is closed."""
    (rows,) = inputs
    columns = [F.col(quote(name)) for name in rows.columns]
    keys = {f"__key_{i}": F.col(quote(name)) for i, name in enumerate(op.keys)}
    grouped = group_by_session(
        rows, op.time_column, op.gap_ms, keys, [F.collect_list(F.struct(*columns)).alias(_ROWS)]
    )
    row = F.col(_ROWS)
    return grouped.select(SESSION, F.explode(_ROWS).alias(_ROWS)).select(
        # A row's own times are none that a watermark moves on: it is out only behind its session's end.
        *(row[name].alias(name, metadata={}) for name in rows.columns),
        *session_bounds(op.start, op.end, op.time, op.delay_ms),
    )


def group_by_session(
    rows: DataFrame,
    time_column: str,
    gap_ms: int,
    keys: Mapping[str, Column],
    aggregates: Sequence[Column],
) -> DataFrame:
    """The sessions of each key, as a struct `SESSION`, with the keys under their hidden names.

    Spark refuses a session window as the only key of a stream, and a constant is folded away; so rows
    without a key have one that only looks as if it could differ.
    """
    if not keys:
        keys = {"__key_all": F.expr("pmod(spark_partition_id(), 1)")}
    session = F.session_window(F.col(quote(time_column)), f"{gap_ms} milliseconds").alias(SESSION)
    keyed = rows.select("*", *(key.alias(name, metadata={}) for name, key in keys.items()))
    grouped = keyed.groupBy(session, *keys).agg(*aggregates)
    return barrier(grouped)


def session_bounds(
    start: str | None, end: str | None, time: str | None, delay_ms: int | None
) -> list[Column]:
    """The bounds of `SESSION` that are asked for, under their names."""
    first, last = F.col(f"{SESSION}.start"), F.col(f"{SESSION}.end")
    found = []
    if start is not None:
        found.append(first.alias(start, metadata={}))
    if end is not None:
        found.append(last.alias(end, metadata=event_time(delay_ms)))
    if time is not None:
        found.append((last - F.expr(_MILLISECOND)).alias(time, metadata=event_time(delay_ms)))
    return found
