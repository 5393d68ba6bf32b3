"""Event time."""

from __future__ import annotations

from typing import Literal

from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.base import JobOperator


class Watermark(JobOperator, frozen=True, tag="watermark"):
    """Marks `column` as event time, late by at most `delay_ms`; what to do with NULL is said too.

    A run fails once the query has dropped more than `max_late_rows` (None: never). After `idle_timeout_ms`
    without rows (None: never) the source no longer holds the query's watermark back.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    column: str
    delay_ms: int
    source: str
    on_null: Literal["fail", "drop", "keep"] = "fail"
    max_late_rows: int | None = None
    idle_timeout_ms: int | None = None

    def describe(self) -> str:
        return f"{self.column} - {format_ms(self.delay_ms)}"
