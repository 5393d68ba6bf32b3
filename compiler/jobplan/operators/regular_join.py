"""A join of two streams without a bound in event time."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.stream_join import OutputColumn, side_of


class RegularJoin(JobOperator, frozen=True, tag="regular_join"):
    """An inner join of rows that came within `state_ttl_ms` of each other, or at any time if it is None."""

    id: str
    uid: str
    inputs: tuple[str, str]
    condition: str
    state_ttl_ms: int | None
    output: tuple[OutputColumn, ...]

    def describe(self) -> str:
        return f"inner on {self.condition}"

    def edge(self, index: int) -> str:
        return side_of(index)
