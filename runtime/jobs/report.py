"""What a run did."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.diagnostics.diagnostic import Diagnostic


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
        open_windows: windows whose rows wait in the state for a later watermark.
        failure: why it died, None if it did not.
        stopped: whether it was ended before its input was.
    """

    uid: str
    epochs: int
    input_rows: int
    late_rows_dropped: int
    open_windows: int
    closed: bool
    stopped: bool
    failure: Diagnostic | None
    sinks: tuple[SinkReport, ...]


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
    def open_windows(self) -> int:
        """Windows of all queries that are still open."""
        return sum(query.open_windows for query in self.queries)
