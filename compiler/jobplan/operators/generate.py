"""UNNEST, LATERAL VIEW, explode()."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator


class Generate(JobOperator, frozen=True, tag="generate"):
    """Each row with every row that the generator `sql` gives of it, whose columns are called `names`."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    sql: str
    names: tuple[str, ...]

    def describe(self) -> str:
        return f"{self.sql} AS ({', '.join(self.names)})"
