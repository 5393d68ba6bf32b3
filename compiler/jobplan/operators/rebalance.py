"""The end of a chain that nothing but the user ends."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator


class Rebalance(JobOperator, frozen=True, tag="rebalance"):
    """Hands rows to other tasks: evenly, or by `keys` if they are changes.

    `partitions` is the number of tasks, None for that of the query's state partitions.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[str, ...] = ()
    partitions: int | None = None

    def describe(self) -> str:
        return f"to {self.partitions or 'all'} tasks" + (f" by {', '.join(self.keys)}" if self.keys else "")

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(self.keys)})" if self.keys else "exchange rebalance"
