"""Columns of an operator's output, with what streaming needs to know of each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from compiler.frozen import frozen
from compiler.plan.types import DataType

WindowPart = Literal["start", "end", "time"]
WindowShape = Literal["tumble", "hop", "cumulate"]


@frozen(slots=True)
class WindowMark:
    """Says that a column is a bound of a window of operator `window` (its uid)."""

    window: str
    part: WindowPart


@frozen(slots=True)
class Field:
    """A column.

    Args:
        name: as it is spelt where it was defined; looked up without regard to case.
        type, nullable: as in Spark.
        watermark_ms: if the column is an event time, how far its watermark lags behind, else None.
        window: if it is a window's start, end or time, which.
        is_processing_time: whether it is PROCTIME(), by which rows are in the order of their arrival.
    """

    name: str
    type: DataType
    nullable: bool = True
    watermark_ms: int | None = None
    window: WindowMark | None = None
    is_processing_time: bool = False

    @property
    def is_event_time(self) -> bool:
        """Whether a watermark moves on this column."""
        return self.watermark_ms is not None

    @property
    def can_be_windowed(self) -> bool:
        """Whether a window may lie over it, which the end of a window is too late for."""
        return self.is_event_time and (self.window is None or self.window.part == "time")


@frozen
class Schema:
    """Ordered columns with distinct names."""

    fields: tuple[Field, ...]

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {f.name.lower(): f for f in self.fields}

    def get(self, name: str) -> Field | None:
        """The column of that name, without regard to case."""
        return self._by_name.get(name.lower())

    @property
    def names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(f.name for f in self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)
