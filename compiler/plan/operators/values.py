"""Rows that are written out in a query."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import Node
from compiler.plan.operators.scan import lower_columns
from compiler.plan.schema import Schema


@frozen
class Values(Node):
    """`VALUES (1, 'a'), (2, 'b')`: a table that never changes, as a seed is.

    Args:
        columns: with the common type of each column's values.
        rows: constants, cast to those types.
    """

    kind: ClassVar[str] = "values"

    columns: Schema = field(repr=False)
    rows: tuple[tuple[Expr, ...], ...]

    def _derive_schema(self) -> Schema:
        return self.columns

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(value for row in self.rows for value in row)

    def describe(self) -> str:
        return f"{len(self.rows)} rows ({', '.join(self.columns.names)})"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        rows = tuple(tuple(to_sql(value) for value in row) for row in self.rows)
        return job.Values(id_, self.uid, inputs, lower_columns(self.columns), rows)
