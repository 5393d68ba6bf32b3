"""What the joins of two streams have in common."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

StreamJoinKind = Literal["inner", "left", "right", "full", "semi", "anti"]


class EventTime(Struct, frozen=True):
    """A column of an input whose watermark is `delay_ms` behind it."""

    column: str
    delay_ms: int


class OutputColumn(Struct, frozen=True):
    """A column of the output; an event time if it has a `delay_ms`."""

    name: str
    delay_ms: int | None = None


def side_of(index: int) -> str:
    """How rows come from a side of a join of streams, for people."""
    return f"{'right' if index else 'left'}, exchange hash(keys)"
