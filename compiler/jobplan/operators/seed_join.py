"""A join with a seed."""

from __future__ import annotations

from typing import Literal

from compiler.jobplan.operators.base import JobOperator


class SeedJoin(JobOperator, frozen=True, tag="seed_join"):
    """Joins the first input (a stream) with the second (a seed), which is broadcast.

    The names of both sides differ already. `kind`: inner, left, semi or anti, seen from the stream. With
    `by_row` the stream's changes name the rows that go, and each is joined by itself.
    """

    id: str
    uid: str
    inputs: tuple[str, str]
    kind: Literal["inner", "left", "semi", "anti", "cross"]
    condition: str | None
    by_row: bool = False

    def describe(self) -> str:
        return self.kind + (f" on {self.condition}" if self.condition else "")

    def edge(self, index: int) -> str:
        return "exchange broadcast" if index == 1 else JobOperator.edge(self, index)
