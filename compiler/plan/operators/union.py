"""UNION ALL."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Self

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.node import EdgeKind, Node
from compiler.plan.schema import Field, Schema


@frozen
class Union(Node):
    """All rows of all inputs, columns matched by position; names are the first input's.

    The binder has made the types equal. A column is an event time if it is one in every input; the
    watermark of a query is then the smallest of its inputs'.
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

    def describe(self) -> str:
        return f"{len(self.parts)} inputs"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Union(id_, self.uid, inputs)


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
