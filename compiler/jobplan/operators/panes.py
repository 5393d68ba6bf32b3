"""What the rows of a pane amount to."""

from __future__ import annotations

from msgspec import Struct

from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.base import Column, Item, JobOperator


class PaneGroup(Struct, frozen=True):
    """Rows that meet `condition`, by panes of `size_ms` and by `keys`, expressions for slots."""

    number: int
    condition: str | None
    size_ms: int
    offset_ms: int
    keys: tuple[Item, ...]


class Partial(Struct, frozen=True):
    """A partial value: an aggregate over the rows of a pane, and what it is of a pane of a single row."""

    name: str
    sql: str
    single: str


class Panes(JobOperator, frozen=True, tag="panes"):
    """Gives partial values of panes, in any number of parts for each pane.

    The output has the columns `group`, `pane` (its start) and `rows` (how many input rows it stands for, each
    counted once, in one of the groups), the event time, the slots and the partials. Rows of no group are in
    group 0. If `ahead`, the source hands over an epoch's rows put together; otherwise each row is a pane.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    time_column: str
    delay_ms: int
    groups: tuple[PaneGroup, ...]
    slots: tuple[Column, ...]
    partials: tuple[Partial, ...]
    group: str
    pane: str
    rows: str
    ahead: bool

    def describe(self) -> str:
        def told(group: PaneGroup) -> str:
            return f"{format_ms(group.size_ms)} by {', '.join(key.sql for key in group.keys) or 'nothing'}"

        return "; ".join(told(group) for group in self.groups)

    def edge(self, index: int) -> str:
        keys = ", ".join((self.group, self.pane, *(slot.name for slot in self.slots)))
        return f"exchange hash({keys})" if self.ahead else super().edge(index)
