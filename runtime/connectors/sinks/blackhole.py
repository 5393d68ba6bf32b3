"""Computes the rows and forgets them."""

from __future__ import annotations

from pyspark.sql import DataFrame

from compiler.jobplan.model import Sink
from runtime.connectors.sinks.base import SinkContext, columns_of


class BlackholeWriter:
    """For measuring; nothing remains, so a replay changes nothing."""

    passes = 1
    location = "nowhere"
    rows_written = 0

    def __init__(self, sink: Sink, _ctx: SinkContext) -> None:
        self._sink = sink

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Nothing to claim."""

    def has(self, epoch: int) -> bool:
        """At least once: nothing is remembered."""
        return False

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Computes every column of every row."""
        columns_of(self._sink, batch).write.format("noop").mode("append").save()
        return True

    def check_empty(self) -> None:
        """Nothing can stand in the way."""

    def empty(self) -> None:
        """Nothing to delete."""
