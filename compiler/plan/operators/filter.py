"""WHERE and HAVING."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.changelog import Changelog
from compiler.plan.expr import Column, Expr, Op
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Schema


@frozen
class Filter(OneInput):
    """Keeps the rows for which the predicate is true.

    Of changes it keeps all: one whose row does not pass becomes the deletion of its key. If they name the
    rows that go, such a row goes if it had passed, and each is judged by itself.
    """

    kind: ClassVar[str] = "filter"

    predicate: Expr

    def _derive_schema(self) -> Schema:
        changes = self.input.changelog
        # A deletion that does not name the row that goes holds what its key's last row held, passed or not.
        by_row = changes.is_append or changes.before
        known = known_columns(self.predicate) if by_row else frozenset()
        fields = self.input.schema.fields
        return Schema(tuple(replace(f, nullable=False) if f.name in known else f for f in fields))

    def takes_changes(self, index: int) -> bool:
        return True

    def _derive_changelog(self) -> Changelog:
        return self.input.changelog.inexact

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (self.predicate,)

    def describe(self) -> str:
        return to_sql(self.predicate)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        by_row = self.input.changelog.before
        return job.Filter(id_, self.uid, inputs, to_sql(self.predicate), by_row)


_STRICT: Final = frozenset({"=", "<", "<=", ">", ">=", "<>"})


def known_columns(predicate: Expr) -> frozenset[str]:
    """Names of the columns that are not NULL where a predicate is true."""
    match predicate:
        case Op(op="AND", args=(left, right)):
            return known_columns(left) | known_columns(right)
        case Op(op="OR", args=(left, right)):
            return known_columns(left) & known_columns(right)
        case Op(op="IS NOT NULL", args=(Column(name=name),)):
            return frozenset((name,))
        case Op(op="NOT", args=(Op(op="IS NULL", args=(Column(name=name),)),)):
            return frozenset((name,))
        case Op(op=op, args=args) if op in _STRICT:
            return frozenset(arg.name for arg in args if isinstance(arg, Column))
    return frozenset()
