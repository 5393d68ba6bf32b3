"""Window table functions whose bounds follow from a row's time alone: TUMBLE, HOP and CUMULATE."""

from __future__ import annotations

from typing import ClassVar, Literal

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Field, Schema, WindowMark, WindowShape
from compiler.plan.types import Timestamp

START, END, TIME = "window_start", "window_end", "window_time"


@frozen
class Window(OneInput):
    """Assigns each row to its windows and adds window_start, window_end and window_time.

    Windows begin at multiples of `slide_ms` (cumulate: of `size_ms`) since 1970-01-01 00:00 UTC, plus
    `offset_ms`. Cumulating windows of one start end at each multiple of `slide_ms` after it, up to the
    size. With `by_calendar` all times are those on a clock in the project's zone, so a day has 23 or 25 hours
    where daylight saving time begins or ends. The end is exclusive; window_time is its last millisecond, an
    event time on which windows can be stacked.
    """

    kind: ClassVar[str] = "window"

    shape: WindowShape
    time_column: str
    size_ms: int
    slide_ms: int
    offset_ms: int
    by_calendar: bool = False

    def _derive_schema(self) -> Schema:
        time = self.input.schema.get(self.time_column)
        assert time is not None
        return Schema((*self.input.schema.fields, *window_fields(self.uid, time.watermark_ms)))

    @property
    def period_ms(self) -> int:
        """The distance between the starts of two windows."""
        return self.size_ms if self.shape == "cumulate" else self.slide_ms

    def describe(self) -> str:
        every = "" if self.shape == "tumble" else f" every {format_ms(self.slide_ms)}"
        offset = f" from {format_ms(self.offset_ms)}" if self.offset_ms else ""
        calendar = " by the calendar" if self.by_calendar else ""
        return f"{self.shape} {format_ms(self.size_ms)}{every}{offset}{calendar} over {self.time_column}"

    def closes(self, delay_ms: int) -> str:
        """When a group of a window is let go, as a sentence."""
        after = f"{format_ms(self.size_ms + delay_ms)} after its start ({format_ms(delay_ms)} after its end)"
        return f"closes {after}" if self.shape != "cumulate" else f"closes at most {after}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        time = self.input.schema.get(self.time_column)
        assert time is not None
        return job.Window(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            kind=self.shape,
            time_column=time.name,
            size_ms=self.size_ms,
            slide_ms=self.slide_ms,
            offset_ms=self.offset_ms,
            by_calendar=self.by_calendar,
            delay_ms=time.watermark_ms,
            start=START,
            end=END,
            time=TIME,
        )


def window_fields(uid: str, delay_ms: int | None) -> tuple[Field, Field, Field]:
    """The columns that the window of an operator adds; its end and its time are event times."""

    def bound(name: str, part: Literal["start", "end", "time"]) -> Field:
        delay = None if part == "start" else delay_ms
        return Field(name, Timestamp(3), False, delay, WindowMark(uid, part))

    return bound(START, "start"), bound(END, "end"), bound(TIME, "time")
