"""GROUP BY."""

from __future__ import annotations

from compiler.jobplan.operators.base import Item, JobOperator


class Aggregate(JobOperator, frozen=True, tag="aggregate"):
    """Groups by `keys` and computes `aggregates`; `output` names the columns in order.

    `event_time_key` names the key whose watermark closes a group (a window's end), or is None on a
    batch, and where groups never close; `upsert` then says that each epoch gives the groups that it changed.
    `window_time` is a column computed from that key after grouping (end - 1 ms), itself an event
    time `delay_ms` behind.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[Item, ...]
    aggregates: tuple[Item, ...]
    output: tuple[str, ...]
    event_time_key: str | None
    delay_ms: int | None = None
    window_time: Item | None = None
    upsert: bool = False

    def describe(self) -> str:
        values = ", ".join(f"{item.sql} AS {item.name}" for item in self.aggregates) or "keys only"
        return f"{values} by {', '.join(key.name for key in self.keys) or 'nothing'}"

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(key.name for key in self.keys)})"
