"""Expressions that only MATCH_RECOGNIZE has: values of rows of a possible match, and aggregates over them.

They never reach Spark as they are: binding a match turns them into terms of the job plan, and into columns.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.frozen import frozen
from compiler.jobplan.operators.match import ALL_ROWS, Anchor
from compiler.plan.expr import Expr


@frozen(slots=True)
class Navigated(Expr):
    """`arg`, an expression over the columns of one row, for a row of the match.

    Args:
        variable: whose rows are counted; `ALL_ROWS` for every row of the match.
        anchor, offset: how many rows after the variable's first, or before its last.
    """

    arg: Expr
    variable: str = ALL_ROWS
    anchor: Anchor = "last"
    offset: int = 0

    @property
    def place(self) -> tuple[str, Anchor, int]:
        """Which row it means."""
        return self.variable, self.anchor, self.offset

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.arg,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, arg=children[0])


@frozen(slots=True)
class Folded(Expr):
    """An aggregate over the rows of a variable so far; `arg` is None for count(*)."""

    name: str
    arg: Expr | None
    variable: str = ALL_ROWS

    @property
    def children(self) -> tuple[Expr, ...]:
        return () if self.arg is None else (self.arg,)

    def with_children(self, children: tuple[Expr, ...]) -> Expr:
        return replace(self, arg=children[0]) if children else self
