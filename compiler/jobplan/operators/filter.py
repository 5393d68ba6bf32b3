"""WHERE."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator


class Filter(JobOperator, frozen=True, tag="filter"):
    """Keeps the rows for which `predicate` is true.

    With `by_row` changes name the rows that go, and each is judged by itself.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    predicate: str
    by_row: bool = False

    def describe(self) -> str:
        return self.predicate
