"""Assigns rows to tumbling or hopping windows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Window
from runtime.spark.context import Context, event_time, quote

_WINDOW = "__headrace_window"
_MILLISECOND = "INTERVAL '0.001' SECOND"


def lower(op: Window, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Spells Spark's window struct as plain columns, of which the end and the time are event times.

    Spark evicts and drops by whatever grouping column carries the mark. The start must not: it is
    reached by the watermark a whole window too early.
    """
    (rows,) = inputs
    struct = F.window(
        F.col(quote(op.time_column)),
        f"{op.size_ms} milliseconds",
        f"{op.slide_ms} milliseconds",
        # Spark refuses an offset beyond the slide, although windows only depend on it modulo the slide.
        f"{op.offset_ms % op.slide_ms} milliseconds",
    )
    start, end = F.col(f"{_WINDOW}.start"), F.col(f"{_WINDOW}.end")
    return rows.select("*", struct.alias(_WINDOW)).select(
        *(F.col(quote(name)) for name in rows.columns),
        start.alias(op.start, metadata={}),
        end.alias(op.end, metadata=event_time(op.delay_ms)),
        (end - F.expr(_MILLISECOND)).alias(op.time, metadata=event_time(op.delay_ms)),
    )
