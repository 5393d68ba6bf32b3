"""Prints epochs, for development: at least once."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Sink
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.sinks.base import SinkContext, changes_of
from runtime.spark.context import quote

_MOST_ROWS = 20


class ConsoleWriter:
    """Prints a table an epoch, as Spark's console sink does; an epoch without rows prints nothing."""

    passes = 1
    location = "console"

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self._say = ctx.say
        self._most = int(sink.options.get("rows", _MOST_ROWS))
        self.rows_written = 0

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Nothing to claim."""

    def has(self, epoch: int) -> bool:
        """At least once: nothing is remembered."""
        return False

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Collects the whole epoch: all of a stateful batch must be computed, and it is one pass."""
        shown = changes_of(self._sink, batch)
        names = ["op" if name == OP_COLUMN else name for name in shown.columns]
        text = shown.select(*(F.col(quote(name)).cast("string") for name in shown.columns))
        rows: list[list[str]] = []
        count = 0
        for row in text.toLocalIterator():
            count += 1
            if len(rows) < self._most:
                rows.append(["NULL" if value is None else str(value) for value in row])
        if count:
            self._say(f"-- {self._sink.uid}, epoch {epoch}")
            self._say(_table(names, rows))
            if count > len(rows):
                self._say(f"only showing {len(rows)} of {count} rows")
        self.rows_written += count
        return True

    def check_empty(self) -> None:
        """Nothing can stand in the way."""

    def empty(self) -> None:
        """Nothing to delete."""


def _table(names: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in [names, *rows]) for i in range(len(names))]
    rule = "+" + "+".join("-" * width for width in widths) + "+"

    def line(values: list[str]) -> str:
        return "|" + "|".join(value.rjust(w) for value, w in zip(values, widths, strict=True)) + "|"

    return "\n".join([rule, line(names), rule, *(line(row) for row in rows), rule])
