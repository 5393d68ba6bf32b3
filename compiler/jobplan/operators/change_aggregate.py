"""GROUP BY whose rows can be taken back, or whose groups have a time to live."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from compiler.jobplan.operators.base import Item, JobOperator
from compiler.jobplan.operators.sorting import BUCKETS

Function = Literal["count", "count_distinct", "sum", "avg", "min", "max"]


class Accumulate(Struct, frozen=True):
    """One aggregate of a group.

    `sql` is its argument, NULL for a row that FILTER leaves out, or None to count rows; `type` is the
    result's.
    """

    name: str
    function: Function
    sql: str | None
    type: str

    def __str__(self) -> str:
        function, distinct, _ = self.function.partition("_distinct")
        return f"{function}({'DISTINCT ' if distinct else ''}{self.sql or '*'}) AS {self.name}"


class ChangeAggregate(JobOperator, frozen=True, tag="change_aggregate"):
    """Groups by `keys` and gives each change of a group, its deletion with its last row.

    Changes of the input take rows back (`Normalize`); of an input without changes all rows stay. `ttl_ms` is
    how long a group is kept that gets no row.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[Item, ...]
    aggregates: tuple[Accumulate, ...]
    ttl_ms: int | None = None
    buckets: int = BUCKETS

    def describe(self) -> str:
        keys, values = ", ".join(map(str, self.keys)), ", ".join(map(str, self.aggregates))
        return f"by {keys or 'nothing'}: {values or 'keys only'}"

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(key.sql for key in self.keys)})"
