"""A join of two streams within their windows."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.stream_join import EventTime, OutputColumn, StreamJoinKind, side_of


class WindowJoin(JobOperator, frozen=True, tag="window_join"):
    """Joins rows that lie in the same window: `condition` holds the equality of both bounds.

    The names of both sides differ already. Rows are late, and forgotten, by `left_end` and `right_end`.
    """

    id: str
    uid: str
    inputs: tuple[str, str]
    kind: StreamJoinKind
    condition: str
    left_end: EventTime
    right_end: EventTime
    output: tuple[OutputColumn, ...]

    def describe(self) -> str:
        return f"{self.kind} on {self.condition}"

    def edge(self, index: int) -> str:
        return side_of(index)
