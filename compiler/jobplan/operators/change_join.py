"""A join of two tables that change."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.sorting import BUCKETS
from compiler.jobplan.operators.stream_join import StreamJoinKind, side_of
from compiler.jobplan.operators.temporal_join import KeyPair


class ChangeJoin(JobOperator, frozen=True, tag="change_join"):
    """Joins the rows that both inputs have now, and gives the pairs that come and go, each by itself.

    An input is changes that name the rows that go (`-U`, `-D`), or rows that only come. `keys` must be equal;
    `condition` is what else must hold, of an inner join. `columns` are those of each input, whose names
    differ. `key` tells the rows of the output apart, if they can be told apart. `ttl_ms` is how long a row is
    kept after it came.
    """

    id: str
    uid: str
    inputs: tuple[str, str]
    kind: StreamJoinKind
    keys: tuple[KeyPair, ...]
    condition: str | None
    columns: tuple[tuple[str, ...], ...]
    key: tuple[str, ...] | None
    ttl_ms: int | None = None
    buckets: int = BUCKETS

    def describe(self) -> str:
        equal = [f"{key.left} = {key.right}" for key in self.keys]
        return f"{self.kind} on {' AND '.join([*equal, self.condition] if self.condition else equal)}"

    def edge(self, index: int) -> str:
        return side_of(index)
