"""SELECT."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.changelog import RETRACT, Changelog
from compiler.plan.expr import Cast, Column, Expr, is_processing_time
from compiler.plan.expr_sql import quote_name, to_sql
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Field, Schema
from compiler.plan.types import BIGINT, INT, SMALLINT, TINYINT

_WHOLE_NUMBERS = (TINYINT, SMALLINT, INT, BIGINT)


@frozen
class NamedExpr:
    """An output column and how it is computed."""

    name: str
    expr: Expr

    def __str__(self) -> str:
        text = to_sql(self.expr)
        name = quote_name(self.name)
        return name if text == name else f"{text} AS {name}"


@frozen
class Project(OneInput):
    """Computes columns row by row; a plain column keeps its marks (event time, window).

    Over changes it must keep their key, if under other names; if they name the rows that go, they then come
    and go without one.
    """

    kind: ClassVar[str] = "project"

    items: tuple[NamedExpr, ...]

    def _derive_schema(self) -> Schema:
        return Schema(tuple(project_field(item, self.input.schema) for item in self.items))

    def takes_changes(self, index: int) -> bool:
        return True

    def _derive_changelog(self) -> Changelog:
        changes = self.input.changelog
        kept = {column: item.name for item in reversed(self.items) if (column := carried_column(item.expr))}
        if changes.before and not all(name in kept for name in changes.key):
            return RETRACT
        return replace(changes, key=tuple(kept[name] for name in changes.key))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(item.expr for item in self.items)

    @property
    def is_identity(self) -> bool:
        """Whether it gives its input unchanged."""
        return self.schema.names == self.input.schema.names and all(
            isinstance(item.expr, Column) and item.expr.name == item.name for item in self.items
        )

    def describe(self) -> str:
        return ", ".join(str(item) for item in self.items)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Project(id_, self.uid, inputs, lower_items(self.items))


def carried_column(expr: Expr) -> str | None:
    """The input column that an expression gives so that different values stay different, or None."""
    if isinstance(expr, Cast) and not expr.attempt and isinstance(expr.arg, Column):
        source, target = expr.arg.type, expr.type
        both = source in _WHOLE_NUMBERS and target in _WHOLE_NUMBERS
        wider = both and _WHOLE_NUMBERS.index(source) <= _WHOLE_NUMBERS.index(target)
        return expr.arg.name if wider else None
    return expr.name if isinstance(expr, Column) else None


def project_field(item: NamedExpr, schema: Schema) -> Field:
    """The output column of an item over columns of `schema`."""
    if isinstance(item.expr, Column) and (source := schema.get(item.expr.name)):
        return source if source.name == item.name else replace(source, name=item.name)
    return Field(
        item.name, item.expr.type, item.expr.nullable, is_processing_time=is_processing_time(item.expr)
    )


def lower_items(items: tuple[NamedExpr, ...]) -> tuple[job.Item, ...]:
    """Items as the job plan has them."""
    return tuple(job.Item(item.name, to_sql(item.expr)) for item in items)
