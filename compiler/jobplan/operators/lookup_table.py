"""Reading a source as a table."""

from __future__ import annotations

from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.base import Column, JobOperator, Options


class LookupTable(JobOperator, frozen=True, tag="lookup_table"):
    """Reads all that a source holds, once an epoch, or not before the content is `refresh_ms` old.

    What an epoch has read is remembered, and read again if the epoch is replayed.
    """

    id: str
    uid: str
    connector: str
    options: Options
    columns: tuple[Column, ...]
    refresh_ms: int | None = None
    inputs: tuple[str, ...] = ()

    def describe(self) -> str:
        age = f" at most {format_ms(self.refresh_ms)} old" if self.refresh_ms is not None else ""
        place = self.options.get("path") or self.options.get("table", "")
        return f"{self.uid} from {self.connector} {place}{age}"
