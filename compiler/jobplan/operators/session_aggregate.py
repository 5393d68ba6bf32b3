"""GROUP BY over sessions."""

from __future__ import annotations

from compiler.jobplan.operators.base import Item, JobOperator
from compiler.jobplan.operators.session import describe_session


class SessionAggregate(JobOperator, frozen=True, tag="session_aggregate"):
    """One row per session of each combination of `keys`, once it is closed.

    `keys` name output columns and the columns of the input that they are; `output` names all output
    columns in order. `start`, `end` and `time` name those that hold the session's bounds, if any do;
    `end` and `time` are event times `delay_ms` behind.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[Item, ...]
    time_column: str
    gap_ms: int
    delay_ms: int | None
    aggregates: tuple[Item, ...]
    output: tuple[str, ...]
    start: str | None
    end: str | None
    time: str | None

    def describe(self) -> str:
        keys = tuple(key.sql for key in self.keys)
        values = ", ".join(f"{item.sql} AS {item.name}" for item in self.aggregates) or "keys only"
        return f"{values} over sessions of {describe_session(self.gap_ms, self.time_column, keys)}"

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(key.sql for key in self.keys)})"
