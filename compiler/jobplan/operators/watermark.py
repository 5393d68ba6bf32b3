"""Event time."""

from __future__ import annotations

from typing import Literal

from compiler.jobplan.operators.base import JobOperator


class Watermark(JobOperator, frozen=True, tag="watermark"):
    """Marks `column` as event time, late by at most `delay_ms`; what to do with NULL is said too."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    column: str
    delay_ms: int
    on_null: Literal["fail", "drop"] = "fail"
