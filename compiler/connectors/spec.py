"""How a connector is described to the compiler: which options it has, and what it can promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Literal

from compiler.frozen import frozen
from compiler.plan.types import DataType

Kind = Literal["string", "integer", "number", "boolean", "duration", "choice"]


@frozen(slots=True)
class Option:
    """An option of a connector.

    Args:
        name: canonical spelling; dots and underscores are told apart.
        kind: what its text must be; a duration becomes milliseconds.
        required: whether it must be given.
        choices: the values of a `choice`.
        flink: other spellings, mostly Flink's.
        least: smallest value of a number.
        problem: what is wrong with a text, and how to mend it; None if nothing is.
    """

    name: str
    kind: Kind = "string"
    required: bool = False
    choices: tuple[str, ...] = ()
    flink: tuple[str, ...] = ()
    least: int | None = None
    problem: Callable[[str], tuple[str, str] | None] | None = None


LOOKUP_TTL = Option(
    "lookup.cache.ttl",
    "duration",
    flink=("lookup.partial-cache.expire-after-write", "lookup.full-cache.periodic-reload.interval"),
)
"""How old the content of a source may be in a lookup join."""


@frozen(slots=True)
class Metadata:
    """What a connector knows of a row besides its columns: `ts TIMESTAMP(3) METADATA FROM 'timestamp'`.

    Args:
        key: as users write it after FROM.
        type: what the connector gives; a column of another type gets the cast value.
        nullable: whether a row may have none.
        writable: whether a sink sends what a row has in a column of it.
        only_once: whether only a sink with `exactly_once` does.
    """

    key: str
    type: DataType
    nullable: bool = False
    writable: bool = False
    only_once: bool = False


@frozen(slots=True)
class Connector:
    """A connector.

    Args:
        name: as users write it.
        source, sink: options by role; None where the connector has no such role.
        prefixes: option families whose rest is free, such as `fields.<column>.`.
        exactly_once: whether its sink can keep an epoch atomic.
        location: the option that says where rows go: two sinks must not share it.
        upsert: whether its sink takes changes by key.
        text_formats: the formats of its source in which one record can be bad and the next one good.
        shows_changes: whether its sink takes changes as they are, each with its operation.
        lookup: whether a source of it can be read whole at any time, as a table.
        rereads: whether a source of it can give the rows of an epoch once more.
        flink: other names.
        metadata: what a source of it can give of each row beside its columns.
        keyed_messages: whether its rows are messages, with columns in a key and columns in a value.
        change_formats: formats of messages that are changes, each with the kinds of change (Flink's names) by
            the codes that the runtime reads; a source of one gives changes, and a sink takes them.
        problems: looks at all options of a source or sink together; gives an option, what is wrong, and
            the fix.
    """

    name: str
    source: tuple[Option, ...] | None = None
    sink: tuple[Option, ...] | None = None
    prefixes: tuple[str, ...] = field(default=())
    exactly_once: bool = False
    location: str | None = None
    upsert: bool = False
    text_formats: tuple[str, ...] = ()
    shows_changes: bool = False
    lookup: bool = False
    rereads: bool = False
    flink: tuple[str, ...] = ()
    metadata: tuple[Metadata, ...] = ()
    keyed_messages: bool = False
    change_formats: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    problems: Callable[[Mapping[str, object]], Iterable[tuple[str, str, str]]] | None = None
