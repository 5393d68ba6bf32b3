"""VALUES."""

from __future__ import annotations

from compiler.jobplan.operators.base import Column, JobOperator


class Values(JobOperator, frozen=True, tag="values"):
    """Rows that are written out: a Spark expression for each column of each row. It has no inputs."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def describe(self) -> str:
        return f"{len(self.rows)} rows ({', '.join(column.name for column in self.columns)})"
