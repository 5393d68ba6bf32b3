"""Window table functions: TUMBLE and HOP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from compiler.jobplan import model as job
from compiler.plan.operators._one_input import OneInput
from compiler.plan.operators.watermark import format_ms
from compiler.plan.schema import Field, Schema, WindowMark
from compiler.plan.types import Timestamp

START, END, TIME = "window_start", "window_end", "window_time"


@dataclass(frozen=True)
class Window(OneInput):
    """Assigns each row to its windows and adds window_start, window_end and window_time.

    Windows begin at multiples of `slide_ms` since 1970-01-01 00:00 UTC, plus `offset_ms`. The end is
    exclusive; window_time is its last millisecond, an event time on which windows can be stacked.
    """

    kind: ClassVar[str] = "window"

    shape: Literal["tumble", "hop"]
    time_column: str
    size_ms: int
    slide_ms: int
    offset_ms: int

    def _derive_schema(self) -> Schema:
        time = self.input.schema.get(self.time_column)
        assert time is not None
        delay = time.watermark_ms

        def bound(name: str, part: Literal["start", "end", "time"]) -> Field:
            mark = WindowMark(self.uid, part)
            return Field(name, Timestamp(3), False, None if part == "start" else delay, mark)

        added = (bound(START, "start"), bound(END, "end"), bound(TIME, "time"))
        return Schema((*self.input.schema.fields, *added))

    def describe(self) -> str:
        every = "" if self.shape == "tumble" else f" every {format_ms(self.slide_ms)}"
        offset = f" from {format_ms(self.offset_ms)}" if self.offset_ms else ""
        return f"{self.shape} {format_ms(self.size_ms)}{every}{offset} over {self.time_column}"

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
            delay_ms=time.watermark_ms,
            start=START,
            end=END,
            time=TIME,
        )
