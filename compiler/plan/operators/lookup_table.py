"""A source read as a table: all that it holds at the moment."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.node import Node
from compiler.plan.operators.scan import lower_columns
from compiler.plan.schema import Schema


@frozen
class LookupTable(Node):
    """The rows that a source holds when an epoch begins; `uid` is the source's.

    Args:
        connector, options, columns: those of the source.
        refresh_ms: how old the content may be; None reads it anew in each epoch.
    """

    kind: ClassVar[str] = "lookup_table"

    connector: str
    options: tuple[tuple[str, job.OptionValue], ...]
    columns: Schema = field(repr=False)
    refresh_ms: int | None

    def _derive_schema(self) -> Schema:
        return self.columns

    def describe(self) -> str:
        options = dict(self.options)
        return f"{self.uid} ({self.connector} {options.get('path') or options.get('table', '')})"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.LookupTable(
            id=id_,
            uid=self.uid,
            connector=self.connector,
            options=dict(self.options),
            columns=lower_columns(self.columns),
            refresh_ms=self.refresh_ms,
        )
