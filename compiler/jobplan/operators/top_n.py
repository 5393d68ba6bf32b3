"""The first rows of each group: Top-N and deduplication."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import field

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.sorting import BUCKETS, Sort

Emit = Literal["closed", "first_by_time", "first_by_arrival", "changes", "retracting"]

_WHEN: Final[dict[Emit, str]] = {
    "closed": "once it is closed",
    "first_by_time": "once none can come before it",
    "first_by_arrival": "at once",
    "changes": "as changes",
    "retracting": "as changes, the next one when a row goes",
}


class TopN(JobOperator, frozen=True, tag="top_n"):
    """Keeps the first `limit` rows of each group of `keys` in the order of `order`, then of their arrival.

    `emit` says when: `closed`, once the watermark has passed the group's `time_column`; `first_by_time`,
    once it has passed the row's `time_column`; `first_by_arrival`, at once and never again; `changes`, each
    change of the result, with its operation; `retracting`, the same over changes, which
    take rows back, so that all rows are kept. `rank` names the column of the row's number, if there is one.
    With `latest` a later row goes before an earlier one of the same order. `event_times` are the columns
    that stay event times, with their delay in milliseconds. `ttl_ms` is how long a group that does
    not change is kept.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[str, ...]
    order: tuple[Sort, ...]
    limit: int
    emit: Emit
    rank: str | None = None
    time_column: str | None = None
    latest: bool = False
    event_times: dict[str, int] = field(default_factory=dict)
    ttl_ms: int | None = None
    buckets: int = BUCKETS

    def describe(self) -> str:
        first = "first row" if self.limit == 1 else f"first {self.limit} rows"
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        rank = f", numbered {self.rank}" if self.rank else ""
        return f"{first}{by} in order of {', '.join(map(str, self.order))}{rank}, {_WHEN[self.emit]}"

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(self.keys)})"
