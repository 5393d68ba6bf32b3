"""Window table functions."""

from __future__ import annotations

from typing import Literal

from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.base import JobOperator


class Window(JobOperator, frozen=True, tag="window"):
    """Assigns rows to windows over `time_column`; a row may land in several (hop, cumulate).

    `slide_ms` is the distance between two starts (hop) or between two ends of one start (cumulate).

    With `by_calendar` sizes and offset are those of the session zone's clock: a day may have 23 or 25 hours.

    Adds `start`, `end` and `time` (names of output columns; end is exclusive, time is end - 1 ms).
    `end` and `time` are event times whose watermark is `delay_ms` behind.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    kind: Literal["tumble", "hop", "cumulate"]
    time_column: str
    size_ms: int
    slide_ms: int
    offset_ms: int
    delay_ms: int | None
    start: str
    end: str
    time: str
    by_calendar: bool = False

    def describe(self) -> str:
        every = "" if self.kind == "tumble" else f" every {format_ms(self.slide_ms)}"
        offset = f" from {format_ms(self.offset_ms)}" if self.offset_ms else ""
        calendar = " by the calendar" if self.by_calendar else ""
        return f"{self.kind} {format_ms(self.size_ms)}{every}{offset}{calendar} over {self.time_column}"
