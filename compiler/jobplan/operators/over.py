"""Functions OVER the rows before one."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from compiler.jobplan.operators.base import JobOperator
from compiler.jobplan.operators.sorting import BUCKETS, Sort


class OverFunction(Struct, frozen=True):
    """A column `name`: `function` of the arguments, over the frame that reaches `preceding` back.

    `preceding` counts rows, or milliseconds if `unit` is `range`; None is all rows before. `type` is Spark
    DDL. `sql` is the whole expression, for rows that are no stream. `offset` is LAG's.
    """

    name: str
    function: str
    args: tuple[str, ...]
    where: str | None
    unit: Literal["rows", "range"]
    preceding: int | None
    type: str
    sql: str
    offset: int = 0
    ignore_nulls: bool = False


class Over(JobOperator, frozen=True, tag="over"):
    """Adds `functions` to each row, once the watermark has passed its `time_column`.

    `keys` partition the rows, `order` is that of the time; `event_times` are the columns that stay event
    times, with their delay in milliseconds. `ttl_ms` is how long a partition is kept that does not change.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[str, ...]
    order: tuple[Sort, ...]
    functions: tuple[OverFunction, ...]
    time_column: str | None
    event_times: dict[str, int] = field(default_factory=dict)
    ttl_ms: int | None = None
    buckets: int = BUCKETS

    def describe(self) -> str:
        return ", ".join(f"{function.sql} AS {function.name}" for function in self.functions)

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(self.keys)})"
