"""A join with what a table holds at the moment."""

from __future__ import annotations

from typing import Literal

from compiler.jobplan.operators.base import JobOperator


class LookupJoin(JobOperator, frozen=True, tag="lookup_join"):
    """Joins the first input (a stream) with the second (a lookup table), which is broadcast.

    The names of both sides differ already. It stands below the query's trunk.
    """

    id: str
    uid: str
    inputs: tuple[str, str]
    kind: Literal["inner", "left"]
    condition: str | None

    def describe(self) -> str:
        return self.kind + (f" on {self.condition}" if self.condition else "")

    def edge(self, index: int) -> str:
        return "exchange broadcast" if index == 1 else JobOperator.edge(self, index)
