"""One row a key: which of an epoch's rows of a key is the last."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.diagnostics.codes import PRIMARY_KEY
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Sink
from compiler.jobplan.operators.base import SEQUENCE_COLUMN
from runtime.connectors.sinks.base import changes_of
from runtime.spark.context import quote

_COUNT, _ORDER, _LAST = "__headrace_n", "__headrace_order", "__headrace_last"


def settle(sink: Sink, epoch: int, batch: DataFrame) -> DataFrame:
    """The sink's columns, and the operations of changes, with the last row of each primary key.

    The rows' order of arrival decides, where their source told it; else the sink's event times. The batch is
    computed once to look for keys with several rows, and mostly there are none.

    Raises:
        DiagnosticError: nothing says which of several rows is the last (HR408).
    """
    rows = changes_of(sink, batch)
    keys = [F.col(quote(key)) for key in sink.primary_key]
    twice = rows.groupBy(*keys).agg(F.count(F.lit(1)).alias(_COUNT)).where(f"{_COUNT} > 1")
    if twice.isEmpty():
        return rows
    order = _order(sink, batch)
    if order is None:
        raise _no_order(sink, epoch, twice)
    ordered = changes_of(sink, batch, order.alias(_ORDER))
    ties = ordered.groupBy(*keys, _ORDER).agg(F.count(F.lit(1)).alias(_COUNT)).where(f"{_COUNT} > 1")
    if not ties.isEmpty():
        raise _no_order(sink, epoch, ties)
    row = F.struct(*(F.col(quote(name)) for name in rows.columns))
    last = ordered.groupBy(*keys).agg(F.max_by(row, F.col(_ORDER)).alias(_LAST))
    return last.select(*(F.col(f"{_LAST}.{quote(name)}").alias(name) for name in rows.columns))


def _order(sink: Sink, batch: DataFrame) -> Column | None:
    if SEQUENCE_COLUMN in batch.columns:
        return F.col(SEQUENCE_COLUMN)
    return F.struct(*(F.col(quote(name)) for name in sink.order_by)) if sink.order_by else None


def _no_order(sink: Sink, epoch: int, several: DataFrame) -> DiagnosticError:
    row = several.limit(1).collect()[0]
    key = ", ".join(f"{name} = {row[name]}" for name in sink.primary_key)
    rows = f"{row[_COUNT]} rows" + (f" for {key}" if key else "")
    return DiagnosticError(
        Diagnostic(
            PRIMARY_KEY,
            f"epoch {epoch} of sink {sink.uid} has {rows}",
            cause="neither their arrival nor an event time says which is the last; nothing was written",
            fix="aggregate by the primary key, or keep one row a key, before the sink; a join with a table "
            "must find one row there",
        )
    )
