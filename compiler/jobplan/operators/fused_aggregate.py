"""Several window aggregates over one input, as one."""

from __future__ import annotations

from msgspec import Struct

from compiler.jobplan.operators.base import Column, Item, JobOperator


class FusedBranch(Struct, frozen=True):
    """One of the aggregates.

    A row of the input that meets `condition` goes into each of its windows, `slide_ms` apart; there it counts
    if it meets `window_condition`, which may read the window's bounds. `keys` are expressions for those of
    the slots that the branch uses. If it cumulates, windows begin together, each period of `size_ms`, and it
    is their ends that are `slide_ms` apart.
    """

    number: int
    uid: str
    condition: str | None
    size_ms: int
    slide_ms: int
    offset_ms: int
    window_condition: str | None
    keys: tuple[Item, ...]
    cumulates: bool = False


class FusedAggregate(JobOperator, frozen=True, tag="fused_aggregate"):
    """Groups by branch, window end and key slots, so that many aggregates are one scan, shuffle and state.

    The output has the columns `branch` and `end` (names), the slots and the values. A slot is NULL in the
    branches that do not use it; a value is meaningful in its own branches only.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    time_column: str
    delay_ms: int
    branches: tuple[FusedBranch, ...]
    slots: tuple[Column, ...]
    values: tuple[Item, ...]
    branch: str
    start: str
    end: str
    time: str

    def describe(self) -> str:
        return ", ".join(branch.uid for branch in self.branches)

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join((self.branch, self.end, *(slot.name for slot in self.slots)))})"
