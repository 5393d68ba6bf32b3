"""A topic's table, and which of its columns are in the key of a message and which in its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from compiler.connectors.resolve import Resolved, Role
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.jobplan.formats import key_fields, value_fields
from compiler.jobplan.model import Options
from compiler.plan.schema import Field
from compiler.syntax.declarations import Text


@frozen(slots=True)
class Table:
    """A source or sink whose rows are messages.

    Args:
        name: as declared.
        role: source or sink.
        resolved: its connector and options.
        columns: its columns but METADATA and computed ones.
        primary_key: names as they were declared.
        beside: names of its METADATA and computed columns.
        descriptors: contents of the files that `protobuf.descriptor` of sources and sinks name, by their
            paths; None for one that cannot be read.
    """

    name: Text
    role: Role
    resolved: Resolved
    columns: Sequence[Field]
    primary_key: Sequence[Text]
    beside: Sequence[str] = ()
    descriptors: Mapping[str, bytes | None] = field(default_factory=dict)

    def place(self, option: str) -> Span:
        """Where an option was written."""
        return self.resolved.places.get(option, self.name.span)


@frozen(slots=True)
class Part:
    """The key of a message, or its value.

    Args:
        name: which of both.
        option: the one that says its format.
        form: the format.
        fields: its columns by their names in the message; a key that messages do not have has none.
    """

    name: Literal["key", "value"]
    option: str
    form: str
    fields: Mapping[str, Field]

    @property
    def prefix(self) -> str:
        """What options of its format begin with."""
        return "" if self.name == "value" else "key."


def parts_of(table: Table, options: Options) -> tuple[Part, Part]:
    """Value and key, by the options with `key.fields` as the columns are spelt."""
    columns = {field.name: field for field in table.columns}
    value = {name: columns[name] for name in value_fields(options, columns)}
    key = {there: columns[name] for name, there in key_fields(options).items()}
    form = str(options.get("format"))
    return (
        Part("value", "format", form, value),
        Part("key", "key.format", str(options.get("key.format", form)), key),
    )


def wrong(table: Table, option: str, problem: str, fix: str) -> Diagnostic:
    """HR104 at an option."""
    return Diagnostic(codes.WRONG_VALUE, problem, table.place(option), fix=fix)
