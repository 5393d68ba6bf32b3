"""WHERE and HAVING."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compiler.jobplan import model as job
from compiler.plan.expr import Expr, to_sql
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Schema


@dataclass(frozen=True)
class Filter(OneInput):
    """Keeps the rows for which the predicate is true."""

    kind: ClassVar[str] = "filter"

    predicate: Expr

    def _derive_schema(self) -> Schema:
        return self.input.schema

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.predicate,)

    def describe(self) -> str:
        return to_sql(self.predicate)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Filter(id_, self.uid, inputs, to_sql(self.predicate))
