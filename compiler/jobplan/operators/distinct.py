"""SELECT DISTINCT."""

from __future__ import annotations

from msgspec import Struct

from compiler.jobplan.operators.base import JobOperator


class Marked(Struct, frozen=True):
    """A column, and how far its watermark lags behind (ms) if it is an event time."""

    name: str
    delay_ms: int | None


class Distinct(JobOperator, frozen=True, tag="distinct"):
    """The first of rows that are equal in all columns.

    `event_time` names the column whose watermark ends the memory of a row, or is None. With `ttl_ms` it is
    kept by bucket and forgotten so long after it came, in processing time.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    event_time: str | None
    columns: tuple[Marked, ...]
    ttl_ms: int | None = None
    buckets: int = 16

    def describe(self) -> str:
        return ", ".join(column.name for column in self.columns)

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(column.name for column in self.columns)})"
