"""What happens during a run, told as it happens."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.diagnostics.diagnostic import Diagnostic
from runtime.spark.counters import SetAside


@dataclass(frozen=True, slots=True)
class QueryStarted:
    """A query runs. `next_epoch` is 0 for a fresh state.

    `by_earlier_plan` says that it only finishes an epoch that another plan has begun.
    """

    query: str
    incarnation: str
    next_epoch: int
    resumed: bool
    by_earlier_plan: bool = False


@dataclass(frozen=True, slots=True)
class EpochCompleted:
    """An epoch is done in all sinks.

    Args:
        late_rows_dropped: what Spark counts behind its partial aggregation, so late rows of one group in
            one epoch may count as one.
        set_aside: rows that a source's policies took out of the stream.
        watermark: ISO time that the epoch was judged by, None without a watermark.
    """

    query: str
    epoch: int
    input_rows: int
    rows_per_second: float
    watermark: str | None
    state_rows: int
    late_rows_dropped: int
    duration_ms: int
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryEnded:
    """A query has drained its input, or was stopped on request."""

    query: str
    stopped: bool
    closed: bool


@dataclass(frozen=True, slots=True)
class QueryFailed:
    """A query has died."""

    query: str
    diagnostic: Diagnostic


Event = QueryStarted | EpochCompleted | QueryEnded | QueryFailed
