"""Keeps rows in this process, for tests: at least once."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row

from compiler.jobplan.model import Sink
from runtime.connectors.sinks.base import SinkContext, changes_of

# Rows by sink uid; whoever runs a plan in this process reads them here.
ROWS: dict[str, list[Row]] = {}


class MemoryWriter:
    """Appends to `ROWS`; a change has its operation in front, as `OP_COLUMN`."""

    passes = 1

    def __init__(self, sink: Sink, _ctx: SinkContext) -> None:
        self._sink = sink
        self.location = f"memory of this process ({sink.uid})"
        self.rows_written = 0

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Makes an empty list if there is none yet."""
        ROWS.setdefault(self._sink.uid, [])

    def has(self, epoch: int) -> bool:
        """At least once: nothing is remembered."""
        return False

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Collects the epoch."""
        rows = changes_of(self._sink, batch).collect()
        ROWS.setdefault(self._sink.uid, []).extend(rows)
        self.rows_written += len(rows)
        return True

    def check_empty(self) -> None:
        """Nothing can stand in the way."""

    def empty(self) -> None:
        """Forgets the rows."""
        ROWS.pop(self._sink.uid, None)
