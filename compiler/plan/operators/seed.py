"""A small table of the project."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.node import Node
from compiler.plan.operators.scan import lower_columns
from compiler.plan.schema import Schema


@frozen
class SeedScan(Node):
    """All rows of a CSV seed; they do not change while a run lasts."""

    kind: ClassVar[str] = "seed"

    path: str
    sha256: str = field(repr=False)
    columns: Schema = field(repr=False)

    def _derive_schema(self) -> Schema:
        return self.columns

    def describe(self) -> str:
        return f"{self.uid} ({self.path})"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Seed(
            id=id_, uid=self.uid, path=self.path, sha256=self.sha256, columns=lower_columns(self.columns)
        )
