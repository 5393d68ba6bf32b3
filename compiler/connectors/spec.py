"""How a connector is described to the compiler: which options it has, and what it can promise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["string", "integer", "number", "boolean", "duration", "choice"]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a connector.

    Args:
        name: canonical spelling; dots and underscores are told apart.
        kind: what its text must be; a duration becomes milliseconds.
        required: whether it must be given.
        choices: the values of a `choice`.
        flink: other spellings, mostly Flink's.
        least: smallest value of a number.
    """

    name: str
    kind: Kind = "string"
    required: bool = False
    choices: tuple[str, ...] = ()
    flink: tuple[str, ...] = ()
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector.

    Args:
        name: as users write it.
        source, sink: options by role; None where the connector has no such role.
        prefixes: option families whose rest is free, such as `fields.<column>.`.
        exactly_once: whether its sink can keep an epoch atomic.
        location: the option that says where rows go: two sinks must not share it.
        upsert: whether its sink takes changes by key.
        flink: other names.
    """

    name: str
    source: tuple[Option, ...] | None = None
    sink: tuple[Option, ...] | None = None
    prefixes: tuple[str, ...] = field(default=())
    exactly_once: bool = False
    location: str | None = None
    upsert: bool = False
    flink: tuple[str, ...] = ()
