"""What a run did."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.diagnostics.diagnostic import Diagnostic
from runtime.spark.counters import SetAside


@dataclass(frozen=True, slots=True)
class SinkReport:
    """Rows that one sink has written in this run, and where."""

    uid: str
    connector: str
    rows_written: int
    location: str


@dataclass(frozen=True, slots=True)
class QueryReport:
    """One query's part of a run.

    Args:
        set_aside: rows that a source's policies took out of the stream.
        open_groups: groups of windows that wait in the state for a later watermark.
        failure: why it died, None if it did not.
        stopped: whether it was ended before its input was.
    """

    uid: str
    epochs: int
    input_rows: int
    late_rows_dropped: int
    open_groups: int
    closed: bool
    stopped: bool
    failure: Diagnostic | None
    sinks: tuple[SinkReport, ...]
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True)
class RunReport:
    """A whole run. `warnings` did not stop it; `retired` are uids of queries that have gone."""

    queries: tuple[QueryReport, ...]
    warnings: tuple[Diagnostic, ...]
    retired: tuple[str, ...]
    stopped: bool

    @property
    def failures(self) -> tuple[Diagnostic, ...]:
        """Why queries died."""
        return tuple(query.failure for query in self.queries if query.failure is not None)

    @property
    def rows_written(self) -> int:
        """Rows in all sinks."""
        return sum(sink.rows_written for query in self.queries for sink in query.sinks)

    @property
    def late_rows_dropped(self) -> int:
        """Late rows of all queries, as Spark counts them."""
        return sum(query.late_rows_dropped for query in self.queries)

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """What policies took out of each source; queries that read the same source see the same rows."""
        most: dict[tuple[str, str], int] = {}
        for query in self.queries:
            for found in query.set_aside:
                key = (found.source, found.reason)
                most[key] = max(most.get(key, 0), found.rows)
        return tuple(SetAside(source, reason, rows) for (source, reason), rows in sorted(most.items()))

    @property
    def open_groups(self) -> int:
        """Groups of windows of all queries that are still open."""
        return sum(query.open_groups for query in self.queries)
