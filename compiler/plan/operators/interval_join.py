"""A join of two streams within a span of time."""

from __future__ import annotations

from typing import Any, ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.expr import Expr, Literal, Op
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import Node
from compiler.plan.operators._stream_join import StreamJoin, column, delay_of
from compiler.plan.schema import Field
from compiler.plan.types import BOOLEAN, DAY_TIME


@frozen(slots=True)
class Bound:
    """An end of a span, in milliseconds; a strict one is itself outside."""

    ms: int
    strict: bool = False


@frozen
class IntervalJoin(StreamJoin):
    """Rows whose event times are near each other: `right_time - left_time` lies in [earliest, latest].

    A row is remembered until the watermark has passed the last time that a partner could have; a row
    without one then leaves an outer join.
    """

    kind: ClassVar[str] = "interval_join"

    left_time: str
    right_time: str
    earliest: Bound
    latest: Bound

    def _predicates(self) -> list[Expr]:
        left, right = (node.schema.get(t) for node, t in zip(self.inputs, self.times, strict=True))
        assert left is not None
        assert right is not None
        nullable = left.nullable or right.nullable

        def compare(op: str, bound: Bound) -> Expr:
            time: Expr = column(left)
            if bound.ms:
                # The last field of an INTERVAL takes fractions, so milliseconds are written as seconds.
                sign, seconds = ("+" if bound.ms > 0 else "-"), f"{abs(bound.ms) / 1000:.3f}"
                text = f"INTERVAL '{seconds.rstrip('0').rstrip('.')}' SECOND"
                time = Op(left.type, left.nullable, sign, (time, Literal(DAY_TIME, False, text, bound.ms)))
            return Op(BOOLEAN, nullable, op if bound.strict else f"{op}=", (column(right), time))

        return [compare(">", self.earliest), compare("<", self.latest)]

    @property
    def times(self) -> tuple[str, str]:
        """The event times of both sides."""
        return self.left_time, self.right_time

    def _delay(self, field: Field, side: Node) -> int | None:
        """Both times stay event times: Spark holds their watermark back as long as either side waits.

        (`StreamingSymmetricHashJoinExec.produceOutputWatermark`: the least of both sides' state watermarks.)
        """
        if field.name not in self.times or field.watermark_ms is None:
            return None
        delay = max(delay_of(node, t) for node, t in zip(self.inputs, self.times, strict=True))
        return delay + max(0, self.latest.ms, -self.earliest.ms)

    def bound(self) -> str:
        delay = max(delay_of(node, t) for node, t in zip(self.inputs, self.times, strict=True))
        left = format_ms(max(0, self.latest.ms + delay))
        right = format_ms(max(0, -self.earliest.ms + delay))
        return (
            f"forgets a left row {left} after {self.left_time}, a right row {right} after {self.right_time}"
        )

    def _stored(self) -> dict[str, Any]:
        return {"times": self.times}

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        left, right = inputs
        delays = [delay_of(node, t) for node, t in zip(self.inputs, self.times, strict=True)]
        return job.IntervalJoin(
            id=id_,
            uid=self.uid,
            inputs=(left, right),
            kind=self.join,
            condition=to_sql(self.predicate),
            left_time=job.EventTime(self.left_time, delays[0]),
            right_time=job.EventTime(self.right_time, delays[1]),
            output=self.output(),
        )
