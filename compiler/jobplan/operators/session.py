"""The window table function SESSION."""

from __future__ import annotations

from compiler.jobplan.durations import format_ms
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

    def describe(self) -> str:
        return describe_session(self.gap_ms, self.time_column, self.keys)

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(self.keys)})"


def describe_session(gap_ms: int, time_column: str, keys: tuple[str, ...]) -> str:
    """Gap, keys and time of sessions, on one line."""
    by = f" by {', '.join(keys)}" if keys else ""
    return f"{format_ms(gap_ms)}{by} over {time_column}"
