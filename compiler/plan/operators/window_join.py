"""A join of two streams within their windows."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.expr import Expr, Op
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import Node
from compiler.plan.operators._stream_join import StreamJoin, column, delay_of
from compiler.plan.schema import Field
from compiler.plan.types import BOOLEAN


@frozen
class WindowBounds:
    """The columns of a side that hold its window's bounds."""

    start: str
    end: str


@frozen
class WindowJoin(StreamJoin):
    """Rows of two streams that lie in the same window.

    A row is late by its window's end, and remembered until the watermark has passed it; a row without a
    partner then leaves an outer or anti join.
    """

    kind: ClassVar[str] = "window_join"

    left_window: WindowBounds
    right_window: WindowBounds

    def _predicates(self) -> list[Expr]:
        pairs = (
            (self.left_window.start, self.right_window.start),
            (self.left_window.end, self.right_window.end),
        )
        found: list[Expr] = []
        for left_name, right_name in pairs:
            left, right = self.left.schema.get(left_name), self.right.schema.get(right_name)
            assert left is not None
            assert right is not None
            found.append(Op(BOOLEAN, left.nullable or right.nullable, "=", (column(left), column(right))))
        return found

    def _delay(self, field: Field, side: Node) -> int | None:
        """End and time of the window stay event times: the join lets go of a window when it closes."""
        if field.watermark_ms is None or field.window is None or field.window.part == "start":
            return None
        return self._lag()

    def _keeps_windows(self, may_lack: bool) -> bool:
        return not may_lack

    def _lag(self) -> int:
        ends = (self.left_window.end, self.right_window.end)
        return max(delay_of(node, end) for node, end in zip(self.inputs, ends, strict=True))

    def bound(self) -> str:
        return f"closes {format_ms(self._lag())} after the window's end"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        left, right = inputs
        return job.WindowJoin(
            id=id_,
            uid=self.uid,
            inputs=(left, right),
            kind=self.join,
            condition=to_sql(self.predicate),
            left_end=job.EventTime(self.left_window.end, delay_of(self.left, self.left_window.end)),
            right_end=job.EventTime(self.right_window.end, delay_of(self.right, self.right_window.end)),
            output=self.output(),
        )
