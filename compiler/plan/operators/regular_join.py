"""A join of two streams without a bound in event time."""

from __future__ import annotations

from typing import Any, ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._stream_join import StreamJoin


@frozen
class RegularJoin(StreamJoin):
    """Every row of one side with every row of the other that has equal keys; inner only.

    With `state_ttl_ms`, two rows meet if the later one came at most that much after the earlier one;
    without, every row is remembered for ever. Behind it there is no event time: a row may meet one that is
    as old as the stream.
    """

    kind: ClassVar[str] = "regular_join"

    state_ttl_ms: int | None

    @property
    def heeds_watermark(self) -> bool:
        return False

    def bound(self) -> str:
        if self.state_ttl_ms is None:
            return "unbounded, because a partner may come at any time (allow_unbounded)"
        return f"forgets a row {format_ms(self.state_ttl_ms)} after it came"

    def _stored(self) -> dict[str, Any]:
        return {"state_ttl": self.state_ttl_ms}

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        left, right = inputs
        return job.RegularJoin(
            id=id_,
            uid=self.uid,
            inputs=(left, right),
            condition=to_sql(self.predicate),
            state_ttl_ms=self.state_ttl_ms,
            output=self.output(),
        )
