"""A join of a stream with the version of a table at an event time."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.stream_join import EventTime, OutputColumn, side_of


class KeyPair(Struct, frozen=True):
    """Expressions of one type that must be equal, over the columns of the left and of the right input."""

    left: str
    right: str


class TemporalJoin(JobOperator, frozen=True, tag="temporal_join"):
    """Joins each row of the first input with the row of the second that was valid at its time.

    The second input is the history of a table: of the rows with equal keys, the last one with a
    `right_time` no later than `left_time` is valid. If `changes`, its rows say what they do, and a deletion
    leaves none. A row leaves when the watermark has passed its `left_time`. `condition` is what else must
    hold. Names of both sides differ. `buckets` is how many parts the state has.
    """

    id: str
    uid: str
    inputs: tuple[str, str]
    kind: Literal["inner", "left"]
    keys: tuple[KeyPair, ...]
    condition: str | None
    left_time: EventTime
    right_time: str
    changes: bool
    output: tuple[OutputColumn, ...]
    buckets: int

    def describe(self) -> str:
        equal = [f"{key.left} = {key.right}" for key in self.keys]
        condition = " AND ".join([*equal, self.condition] if self.condition else equal)
        return f"{self.kind} on {condition} as of {self.left_time.column}"

    def edge(self, index: int) -> str:
        return side_of(index)
