"""Rows out of arrays and maps: UNNEST, LATERAL VIEW, explode()."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.expr import Call, Expr
from compiler.plan.expr_sql import quote_name, to_sql
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Field, Schema
from compiler.plan.types import Struct


@frozen
class Generate(OneInput):
    """Each row once for every row that a generator gives of it, with the generator's columns behind its own.

    Nothing is kept from row to row, so event times and windows stay what they were. What is done with a row
    whose array is empty is up to the generator (`explode`, `explode_outer`).

    Args:
        call: a generator of the catalogue; its type is a STRUCT of the columns that it gives.
        names: of those columns, other than the input's.
    """

    kind: ClassVar[str] = "generate"

    call: Call
    names: tuple[str, ...]

    def _derive_schema(self) -> Schema:
        found = self.call.type
        assert isinstance(found, Struct)
        made = (
            Field(name, field.type, field.nullable)
            for name, field in zip(self.names, found.fields, strict=True)
        )
        return Schema((*self.input.schema.fields, *made))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.call,)

    def describe(self) -> str:
        return f"{to_sql(self.call)} AS ({', '.join(quote_name(name) for name in self.names)})"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Generate(id_, self.uid, inputs, to_sql(self.call), self.names)
