"""A stream enriched with a small table of the project."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, Self

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.changelog import RETRACT, Changelog
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import EdgeKind, Node
from compiler.plan.schema import Field, Schema

JoinKind = Literal["inner", "left", "semi", "anti", "cross"]


@frozen
class SeedJoin(Node):
    """Joins each row of `stream` with the rows of `table`, which is broadcast.

    The binder has renamed columns so that the names of both sides differ. No state is kept: the table
    does not change, so a row's matches are known when it arrives. A change whose row finds no match becomes
    the deletion of its key (inner); one that finds two would make two rows of one key, and fails the epoch.
    Changes that name the rows that go are joined row by row, in any kind of join.
    """

    kind: ClassVar[str] = "seed_join"

    stream: Node
    table: Node
    join: JoinKind
    condition: Expr | None

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.stream, self.table)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return () if self.condition is None else (self.condition,)

    def edge_from(self, index: int) -> EdgeKind:
        return "broadcast" if index == 1 else "forward"

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        stream, table = inputs
        return replace(self, stream=stream, table=table)

    def _derive_schema(self) -> Schema:
        if self.join in ("semi", "anti"):
            return self.stream.schema

        def right(field: Field) -> Field:
            return replace(field, nullable=True) if self.join == "left" else field

        return Schema((*self.stream.schema.fields, *(right(f) for f in self.table.schema)))

    def takes_changes(self, index: int) -> bool:
        return index == 0 and (self.join in ("inner", "left") or self.stream.changelog.before)

    def _derive_changelog(self) -> Changelog:
        changes = self.stream.changelog
        return RETRACT if changes.before and self.join == "cross" else changes.inexact

    def describe(self) -> str:
        condition = f" on {to_sql(self.condition)}" if self.condition is not None else ""
        return f"{self.join}{condition}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        stream, table = inputs
        condition = to_sql(self.condition) if self.condition is not None else None
        by_row = self.stream.changelog.before
        return job.SeedJoin(id_, self.uid, (stream, table), self.join, condition, by_row)
