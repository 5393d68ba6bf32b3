"""WHERE."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator


class Filter(JobOperator, frozen=True, tag="filter"):
    """Keeps the rows for which `predicate` is true."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    predicate: str

    def describe(self) -> str:
        return self.predicate
