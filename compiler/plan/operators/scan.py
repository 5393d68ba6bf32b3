"""Reading a source."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.formats import OPERATION
from compiler.plan.node import Node
from compiler.plan.schema import Field, Schema
from compiler.plan.types import STRING

RAW, POSITION = "__headrace_raw", "__headrace_position"
_MARKS = (Field(RAW, STRING), Field(POSITION, STRING))


@frozen
class Scan(Node):
    """Rows of a source as they arrive: its physical columns.

    Args:
        connector: name of the connector.
        options: canonical options, in order.
        columns: what is read, before computed columns and the watermark.
        key: names of the columns of the primary key, as it was declared.
        metadata: those of the columns that are no part of a record, each with the connector's key.
        declared: all columns that the source has, where `columns` are those of them that are used.
        marks_bad_records: whether a record that cannot be read comes with its text in RAW and where it
            stood in POSITION, instead of failing the epoch.
    """

    kind: ClassVar[str] = "scan"

    connector: str
    options: tuple[tuple[str, job.OptionValue], ...]
    columns: Schema = field(repr=False)
    key: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    marks_bad_records: bool = False
    declared: Schema | None = field(default=None, repr=False)

    def _derive_schema(self) -> Schema:
        return Schema((*self.columns.fields, *_MARKS)) if self.marks_bad_records else self.columns

    @cached_property
    def is_stream(self) -> bool:
        return True

    def describe(self) -> str:
        options = dict(self.options)
        where = options.get("path") or options.get("topic")
        return f"{self.uid} ({self.connector}{f' {where}' if where else ''})"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Scan(
            id=id_,
            uid=self.uid,
            read_name=read_name(self.uid),
            connector=self.connector,
            options=dict(self.options),
            columns=lower_columns(self.columns),
            metadata=dict(self.metadata),
            marks=(RAW, POSITION) if self.marks_bad_records else None,
            declared=lower_columns(self.declared) if self.declared is not None else (),
            key=self.key if OPERATION in dict(self.metadata).values() else (),
        )


def read_name(source: str) -> str:
    """The name under which a checkpoint knows a source.

    Spark 4.2 takes ASCII letters, digits and underscores only; any other character becomes its code point.
    """
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"_x{ord(c):x}_" for c in source)


def lower_columns(schema: Schema) -> tuple[job.Column, ...]:
    """Columns as the job plan has them."""
    return tuple(job.Column(f.name, f.type.sql, f.nullable) for f in schema)
