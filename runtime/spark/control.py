"""A control source beside an input: times that move its watermark on while it is silent.

The times are small JSON files. They are united with the input below the watermark and taken out above it.
Spark pushes such a filter down, and with it the effect is gone, unless a non-deterministic column stands
in between (4.2.0).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.operators.watermark import Watermark
from runtime.spark.context import Context, quote
from runtime.state.reads import control_name

_IS_CONTROL, _BARRIER = "__headrace_control", "__headrace_barrier"
_TIME = "time_ms"


def control_folder(query_folder: Path, source: str) -> Path:
    """Where the control files of a source lie."""
    return query_folder / "idle" / source


def move_on(folder: Path, time_ms: int) -> None:
    """Adds a control file, whole or not at all.

    Args:
        folder: the source's control folder.
        time_ms: the event time (ms since 1970) that the watermark is to be computed from.
    """
    part = folder / f".{time_ms}.part"
    part.write_text(json.dumps({_TIME: time_ms}) + "\n", encoding="utf-8")
    os.replace(part, folder / f"{time_ms}.json")


def with_control(rows: DataFrame, op: Watermark, ctx: Context) -> DataFrame:
    """The input's rows, with a watermark that control files move too."""
    assert ctx.query_folder is not None
    folder = control_folder(ctx.query_folder, op.source)
    folder.mkdir(parents=True, exist_ok=True)
    times = (
        ctx.session.readStream.name(control_name(op.source))
        .format("json")
        .schema(f"{_TIME} BIGINT")
        # One comes whenever the others' watermark moves. Spark deletes what an epoch has read when the next
        # one has begun, and so never what a replay reads.
        .option("cleanSource", "delete")
        .load(str(folder))
        .select(F.timestamp_millis(F.col(_TIME)).alias(op.column), F.lit(True).alias(_IS_CONTROL))
    )
    united = rows.withColumn(_IS_CONTROL, F.lit(False)).unionByName(times, allowMissingColumns=True)
    marked = united.withWatermark(op.column, f"{op.delay_ms} milliseconds").withColumn(_BARRIER, F.rand())
    # Cascaded windows are only moved on if the filter also looks at the time.
    kept = marked.where(
        (F.col(_BARRIER) >= 0)
        & (~F.col(_IS_CONTROL) | (F.col(quote(op.column)) < F.lit("0001-01-01").cast("timestamp")))
    )
    return kept.drop(_IS_CONTROL, _BARRIER)
