"""The window table function SESSION."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator


class Session(JobOperator, frozen=True, tag="session"):
    """Assigns rows to sessions over `time_column`, of each combination of `keys` (columns of the input).

    Adds `start`, `end` and `time` as `Window` does. Rows leave when their session is closed.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[str, ...]
    time_column: str
    gap_ms: int
    delay_ms: int | None
    start: str
    end: str
    time: str
