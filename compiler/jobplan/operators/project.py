"""SELECT."""

from __future__ import annotations

from compiler.jobplan.operators.base import Item, JobOperator


class Project(JobOperator, frozen=True, tag="project"):
    """Computes the output columns; an item that is just a column keeps its event-time mark."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    items: tuple[Item, ...]

    def describe(self) -> str:
        return ", ".join(map(str, self.items))
