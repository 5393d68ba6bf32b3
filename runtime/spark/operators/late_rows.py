"""Gives the rows of an epoch that were too late, as dead letters.

Spark drops a late row inside of the operator that has closed its window, and says no more than how many. So
what the epoch has read is read once more, and judged by the watermark that the epoch's operators judged by.
A replay reads the same and judges the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Column, Filter, LateRows, Project, Watermark, Window
from compiler.jobplan.operators.late_rows import LETTER_COLUMN, TIME_COLUMN, Way
from runtime.connectors.sources import REREADABLE
from runtime.connectors.sources.base import Reread
from runtime.spark.context import Context, Lowering, quote
from runtime.spark.operators import filter as filters
from runtime.spark.operators import project, watermark, window
from runtime.spark.operators.scan import as_declared
from runtime.state.checkpoint import Checkpoint

_STEPS: dict[type[Any], Lowering] = {
    Filter: filters.lower,
    Project: project.lower,
    Watermark: watermark.lower,
    Window: window.lower,
}
_END = "__headrace_end"
_BAD = "bad record"


def lower(op: LateRows, _inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Rows once for each operator that left them out; what happens to bad records is told beside them."""
    assert op.scan.marks is not None
    raw, position = op.scan.marks
    found, judged_by_ms = _epoch(op, ctx)
    text = F.to_json(F.struct(*(F.col(quote(column.name)) for column in op.scan.record)))
    number = F.monotonically_increasing_id()
    letter = F.struct(number.alias("number"), text.alias("raw"), F.col(quote(position)).alias("position"))
    rows = found.withColumn(LETTER_COLUMN, letter)
    letters = [_late(way, rows, judged_by_ms, ctx) for way in op.ways]
    if op.bad_records:
        bad = found.where(F.col(quote(raw)).isNotNull())
        no_time = F.lit(None).cast("timestamp")
        letters.append(bad.select(*_letter(F.lit(_BAD), F.col(quote(raw)), F.col(quote(position)), no_time)))
    told = reduce(DataFrame.unionAll, letters)
    return told.select(F.lit(op.source).alias("source"), "*")


def _epoch(op: LateRows, ctx: Context) -> tuple[DataFrame, int]:
    """What the epoch has read, and the watermark that it was judged by (ms since 1970)."""
    rows = None
    judged_by_ms = 0
    if ctx.epoch is not None and ctx.query_folder is not None:
        checkpoint = Checkpoint(ctx.query_folder / "checkpoint")
        judged_by_ms = checkpoint.late_watermark_ms(ctx.epoch)
        before, after = checkpoint.offsets(ctx.epoch)
        if before != after:
            read = Reread(before, after, checkpoint.path / "sources" / op.scan.read_name)
            rows = REREADABLE[op.scan.connector].reread(op.scan, ctx, read)
    if rows is None:
        marks = [Column(name, "STRING") for name in op.scan.marks or ()]
        columns = (f"{quote(column.name)} {column.type}" for column in (*op.scan.columns, *marks))
        return ctx.session.createDataFrame([], ", ".join(columns)), judged_by_ms
    return as_declared(op.scan, rows), judged_by_ms


def _late(way: Way, rows: DataFrame, judged_by_ms: int, ctx: Context) -> DataFrame:
    """The rows of a way whose last window the watermark had passed."""
    for step in way.operators:
        rows = _STEPS[type(step)](step, [rows], ctx)
    mark = F.timestamp_millis(F.lit(judged_by_ms))
    letter = F.col(LETTER_COLUMN)
    # No window ends before the time of its rows; so few are left to be put together.
    ends = rows.where(F.col(TIME_COLUMN) <= mark).select(
        letter, TIME_COLUMN, F.expr(way.end).cast("timestamp").alias(_END)
    )
    last = ends.groupBy(letter.getField("number").alias("number")).agg(
        F.any_value(letter).alias(LETTER_COLUMN),
        F.any_value(TIME_COLUMN).alias(TIME_COLUMN),
        F.max(_END).alias(_END),
    )
    late = last.where(F.col(_END) <= mark)
    return late.select(
        *_letter(
            F.lit(f"late for {way.reader}"),
            letter.getField("raw"),
            letter.getField("position"),
            F.col(TIME_COLUMN),
        )
    )


def _letter(reason: Any, raw: Any, position: Any, time: Any) -> list[Any]:
    return [reason.alias("reason"), raw.alias("raw"), position.alias("position"), time.alias("event_time")]
