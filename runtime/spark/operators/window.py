"""Assigns rows to tumbling, hopping or cumulating windows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Window
from runtime.spark.changes import hidden, visible
from runtime.spark.context import Context, event_time, quote

_WINDOW = "__headrace_window"
_MILLISECOND = "INTERVAL '0.001' SECOND"


def lower(op: Window, inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Spells Spark's window struct as plain columns, of which the end and the time are event times.

    Spark evicts and drops by whatever grouping column carries the mark. The start must not: it is
    reached by the watermark a whole window too early.
    """
    (rows,) = inputs
    time = F.col(quote(op.time_column))
    zone = F.lit(ctx.session.conf.get("spark.sql.session.timeZone"))
    if op.by_calendar:
        # What a clock in the zone shows, read as if in UTC: there each day has as many hours as another.
        time = F.from_utc_timestamp(time, zone)
    # Cumulating windows of one start are within one tumbling window.
    slide_ms = op.size_ms if op.kind == "cumulate" else op.slide_ms
    struct = F.window(
        time,
        f"{op.size_ms} milliseconds",
        f"{slide_ms} milliseconds",
        # Spark refuses an offset beyond the slide, although windows only depend on it modulo the slide.
        f"{op.offset_ms % slide_ms} milliseconds",
    )
    start, end = F.col(f"{_WINDOW}.start"), F.col(f"{_WINDOW}.end")
    assigned = rows.select("*", struct.alias(_WINDOW))
    if op.kind == "cumulate":
        assigned = assigned.select("*", F.explode(_ends(op, time)).alias(_END))
        end = F.col(_END)
    if op.by_calendar:
        start, end = F.to_utc_timestamp(start, zone), F.to_utc_timestamp(end, zone)
    return assigned.select(*visible(rows), *bounds(op, start, end), *hidden(rows))


_END = "__headrace_end"


def _ends(op: Window, time: Column) -> Column:
    """The ends of the row's windows: each multiple of the step after its time, up to the size."""
    start_us, step_us = F.unix_micros(F.col(f"{_WINDOW}.start")), op.slide_ms * 1000
    first = F.floor((F.unix_micros(time) - start_us) / step_us) + 1
    return F.transform(
        F.sequence(first, F.lit(op.size_ms // op.slide_ms).cast("bigint")),
        lambda number: F.timestamp_micros(start_us + number * step_us),
    )


def bounds(op: Window, start: Column, end: Column) -> tuple[Column, Column, Column]:
    """A window's columns."""
    return (
        start.alias(op.start, metadata={}),
        end.alias(op.end, metadata=event_time(op.delay_ms)),
        (end - F.expr(_MILLISECOND)).alias(op.time, metadata=event_time(op.delay_ms)),
    )
