"""Changes that bring the row before them."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.sorting import BUCKETS


class Normalize(JobOperator, frozen=True, tag="normalize"):
    """Remembers the last row of each of `keys`, and puts it before each change of it (`-U`, `-D`).

    Of the changes of a key in one epoch the last one counts, and one that changes nothing goes. `ttl_ms` is
    how long a row is remembered that does not change.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[str, ...]
    ttl_ms: int | None = None
    buckets: int = BUCKETS

    def describe(self) -> str:
        return f"rows before changes, by {', '.join(self.keys) or 'nothing'}"

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(self.keys)})"
