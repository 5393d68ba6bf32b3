"""A join of two streams within a span of time."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.stream_join import EventTime, OutputColumn, StreamJoinKind, side_of


class IntervalJoin(JobOperator, frozen=True, tag="interval_join"):
    """Joins rows whose event times are near each other: `condition` holds equalities and both time bounds.

    The names of both sides differ already. Of each side, `left_time` and `right_time` alone are event
    times to the join.
    """

    id: str
    uid: str
    inputs: tuple[str, str]
    kind: StreamJoinKind
    condition: str
    left_time: EventTime
    right_time: EventTime
    output: tuple[OutputColumn, ...]

    def describe(self) -> str:
        return f"{self.kind} on {self.condition}"

    def edge(self, index: int) -> str:
        return side_of(index)
