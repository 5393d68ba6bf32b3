"""UNION ALL."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan import types as t
from compiler.plan.changelog import APPEND, RETRACT, Changelog
from compiler.plan.expr import Column, Literal
from compiler.plan.node import EdgeKind, Node
from compiler.plan.operators.boundary import Boundary
from compiler.plan.operators.filter import Filter
from compiler.plan.operators.normalize import Normalize
from compiler.plan.operators.project import Project
from compiler.plan.operators.rebalance import Rebalance
from compiler.plan.schema import Field, Schema


@frozen
class Union(Node):
    """All rows of all inputs, columns matched by position; names are the first input's.

    The binder has made the types equal. A column is an event time if it is one in every input; the
    watermark of a query is then the smallest of its inputs'.

    If rows of an input can go, rows of the union can, and changes of an input name the row that goes. They
    have a key if no two inputs can have a row of one: all change by columns at the same places, and differ
    in a constant.
    """

    kind: ClassVar[str] = "union"

    parts: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    def edge_from(self, index: int) -> EdgeKind:
        return "union"

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        return replace(self, parts=inputs)

    def _derive_schema(self) -> Schema:
        columns = zip(*(part.schema.fields for part in self.parts), strict=True)
        return Schema(tuple(_merge(fields) for fields in columns))

    def takes_changes(self, index: int) -> bool:
        return self.parts[index].changelog.before

    def _derive_changelog(self) -> Changelog:
        if all(part.changelog.is_append for part in self.parts):
            return APPEND
        constant, keys = self._constant, {_places(part) for part in self.parts}
        (places, *more) = keys
        if constant is None or places is None or more:
            return RETRACT
        names = self.schema.names
        key = (constant, *(name for place, name in enumerate(names) if place in places))
        return Changelog("upsert", tuple(dict.fromkeys(key)), before=True)

    @property
    def _constant(self) -> str | None:
        """The column that is another constant in each input, or None."""
        for place, name in enumerate(self.parts[0].schema.names):
            values = [_constant(part, part.schema.names[place]) for part in self.parts]
            if None not in values and len(set(values)) == len(values):
                return name
        return None

    def describe(self) -> str:
        return f"{len(self.parts)} inputs"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Union(id_, self.uid, inputs)


def _places(part: Node) -> frozenset[int] | None:
    """Where the key of an input's changes stands, or None if its rows have no key."""
    changes = part.changelog
    if changes.kind != "upsert":
        return None
    return frozenset(part.schema.names.index(name) for name in changes.key)


def _constant(node: Node, name: str) -> object:
    """What a column always is, or None if that is not known for certain."""
    while True:
        if isinstance(node, Project):
            expr = next(item.expr for item in node.items if item.name == name)
            if isinstance(expr, Literal) and expr.value is not None:
                # Of other types two texts may be one value.
                plain = expr.type in (t.STRING, t.BOOLEAN) or t.is_integral(expr.type)
                return expr.value if plain else None
            if not isinstance(expr, Column):
                return None
            name = expr.name
        elif not isinstance(node, (Boundary, Filter, Normalize, Rebalance)):
            return None
        (node,) = node.inputs


def _merge(fields: tuple[Field, ...]) -> Field:
    first = fields[0]
    delays = [f.watermark_ms for f in fields]
    known = [delay for delay in delays if delay is not None]
    marks = {f.window for f in fields}
    return Field(
        name=first.name,
        type=first.type,
        nullable=any(f.nullable for f in fields),
        watermark_ms=max(known) if len(known) == len(delays) else None,
        window=first.window if len(marks) == 1 else None,
    )
