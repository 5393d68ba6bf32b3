"""Rows that came too late, as dead letters."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.filter import Filter
from compiler.jobplan.operators.project import Project
from compiler.jobplan.operators.scan import Scan
from compiler.jobplan.operators.watermark import Watermark
from compiler.jobplan.operators.window import Window

LETTER_COLUMN: Final = "__headrace_letter"
"""The column of a way that holds a row's number, text and position: STRUCT<number, raw, position>."""

TIME_COLUMN: Final = "__headrace_time"
"""The column of a way that holds a row's event time."""


class Way(Struct, frozen=True):
    """How rows of a source come to an operator that leaves late ones out.

    `operators` turn the source's rows, which carry `LETTER_COLUMN` beside their own, into those that the
    operator takes, each from the one before; they carry `TIME_COLUMN` too. A row is late for the operator if
    the watermark has passed `end`, an expression over them, in each of its windows.
    """

    reader: str
    operators: tuple[Filter | Project | Watermark | Window, ...]
    end: str


class LateRows(JobOperator, frozen=True, tag="late_rows"):
    """Reads what an epoch has read of a source once more, and gives what was too late as dead letters.

    It stands below the trunk and takes no rows of its input, which only says whose epochs are meant. `scan`
    reads whole records. With `bad_records` the source's bad records are dead letters too.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    source: str
    scan: Scan
    ways: tuple[Way, ...]
    bad_records: bool = False

    def describe(self) -> str:
        also = ", and bad records" if self.bad_records else ""
        return f"of {self.source} for {', '.join(way.reader for way in self.ways)}{also}"
