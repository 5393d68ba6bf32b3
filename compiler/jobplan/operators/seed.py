"""Reading a seed."""

from __future__ import annotations

from compiler.jobplan.operators.base import Column, JobOperator


class Seed(JobOperator, frozen=True, tag="seed"):
    """Reads a small CSV table with a header line; `sha256` is that of the file's bytes."""

    id: str
    uid: str
    path: str
    sha256: str
    columns: tuple[Column, ...]
    inputs: tuple[str, ...] = ()

    def describe(self) -> str:
        return f"{self.uid} from {self.path}"
