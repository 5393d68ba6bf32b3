"""Several rows out of one: UNION ALL of what filters and projections make of one input."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.operators.branches import Branches as LowBranches
from compiler.jobplan.operators.branches import Made
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Schema


@frozen
class Branch:
    """A row made of one of the input: its columns in order, and what must hold for it."""

    condition: Expr | None
    values: tuple[Expr, ...]

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All that it computes."""
        return self.values if self.condition is None else (self.condition, *self.values)


@frozen
class Branches(OneInput):
    """Makes of each row a row for each branch whose condition holds.

    Args:
        made: the branches.
        columns: what they give, by position.
    """

    kind: ClassVar[str] = "branches"

    made: tuple[Branch, ...]
    columns: Schema

    def _derive_schema(self) -> Schema:
        return self.columns

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(expr for branch in self.made for expr in branch.expressions)

    def describe(self) -> str:
        return f"{len(self.made)} of each row"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        made = tuple(
            Made(to_sql(b.condition) if b.condition is not None else None, tuple(map(to_sql, b.values)))
            for b in self.made
        )
        delays = {field.name: field.watermark_ms for field in self.schema if field.watermark_ms is not None}
        return LowBranches(id_, self.uid, inputs, made, self.schema.names, delays)
