"""Reads a source as a stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from compiler.jobplan.formats import DELETION, OPERATION
from compiler.jobplan.model import Column, Scan
from runtime.connectors.sources import REREADABLE, SOURCES
from runtime.connectors.sources.base import Reread
from runtime.spark.changes import hidden
from runtime.spark.context import Context, quote
from runtime.spark.counters import BAD_RECORDS, count_set_aside
from runtime.spark.epoch_source import EpochSource, Shape
from runtime.state.checkpoint import Checkpoint

# What the failure mapper looks for.
NULL_MARKER = "[headrace:null_value]"


def lower(op: Scan, _inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Hands over to the connector and keeps the declared columns, in their order."""
    return counted(op, as_declared(op, SOURCES[op.connector].read(op, ctx)))


def counted(op: Scan, rows: DataFrame) -> DataFrame:
    """The same rows; bad records among them are counted."""
    if op.marks is None:
        return rows
    return count_set_aside(rows, op.uid, BAD_RECORDS, F.col(quote(op.marks[0])).isNotNull())


def epoch_source(
    op: Scan,
    ctx: Context,
    checkpoint: Checkpoint,
    failed: Callable[[BaseException], None],
    *,
    keep: bool,
    shape: Shape | None,
) -> EpochSource:
    """The source as a stream whose rows of an epoch are had as a batch before.

    Args:
        op: a scan whose connector can read an epoch again.
        ctx: of the stream.
        checkpoint: of the query.
        failed: told what goes wrong.
        keep: whether sinks beside the stream take the rows too.
        shape: what is made of them before they enter the stream.
    """
    source = REREADABLE[op.connector]
    log = checkpoint.path / "sources" / op.read_name

    def read(session: SparkSession, before: str | None, after: str) -> DataFrame | None:
        epoch = replace(ctx, session=session, streaming=False)
        rows = source.reread(op, epoch, Reread(before, after, log))
        return None if rows is None else as_declared(op, rows)

    stream = as_declared(op, source.read(op, ctx))
    in_flight = lambda: checkpoint.in_flight  # noqa: E731  # asked anew each time
    return EpochSource(
        ctx.session, stream, op.read_name, log, read, in_flight, failed, keep=keep, shape=shape
    )


def as_declared(op: Scan, rows: DataFrame) -> DataFrame:
    """What a connector gives as the declared columns; bad records are marked, or end the epoch."""
    if op.marks is None:
        columns = (_column(op, column).alias(column.name) for column in op.columns)
        return rows.select(*columns, *hidden(rows))
    raw, position = op.marks
    mark = _mark(op, raw)
    kept = [_value(op, column).alias(column.name) for column in op.columns]
    return rows.select(*kept, mark.alias(raw), F.col(quote(position)), *hidden(rows))


def _column(op: Scan, column: Column) -> SparkColumn:
    """NOT NULL is checked where the column is used: Spark takes every column of a file for nullable."""
    value = _value(op, column)
    checked = _not_null(op.uid, column, value)
    return F.when(_deletes(op), value).otherwise(checked) if _may_lack(op, column) else checked


def _may_lack(op: Scan, column: Column) -> bool:
    """Whether the column may have nothing although it is declared NOT NULL: a deletion has the key alone."""
    return bool(op.key) and not column.nullable and column.name not in op.key


def _deletes(op: Scan) -> SparkColumn:
    """Whether a record that is a change deletes the row of its key."""
    operation = next(name for name, key in op.metadata.items() if key == OPERATION)
    return F.col(quote(operation)) == DELETION


def declared(source: str, column: Column) -> SparkColumn:
    """A column of a record, checked as it was declared."""
    return _not_null(source, column, F.col(quote(column.name)))


def _not_null(source: str, column: Column, value: SparkColumn) -> SparkColumn:
    if column.nullable:
        return value
    text = f"{NULL_MARKER} source={source} column={column.name}"
    return F.coalesce(value, F.raise_error(F.lit(text)).cast(column.type))


def _value(op: Scan, column: Column) -> SparkColumn:
    value = F.col(quote(column.name))
    return value.cast(column.type) if column.name in op.metadata else value


def _mark(op: Scan, raw: str) -> SparkColumn:
    """The text of a bad record: what the reader could not read, or a row that lacks what it must have."""
    text = F.col(quote(raw))
    missing = [
        F.col(quote(column.name)).isNull() & (~_deletes(op) if _may_lack(op, column) else F.lit(True))
        for column in op.record
        if not column.nullable
    ]
    if not missing:
        return text
    row = F.to_json(F.struct(*(F.col(quote(column.name)) for column in op.record)))
    return F.coalesce(text, F.when(reduce(or_, missing), row))
