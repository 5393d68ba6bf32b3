"""UNION ALL."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator


class Union(JobOperator, frozen=True, tag="union"):
    """UNION ALL by position; columns take the names of the first input."""

    id: str
    uid: str
    inputs: tuple[str, ...]

    def describe(self) -> str:
        return f"of {len(self.inputs)} inputs"
