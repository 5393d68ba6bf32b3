"""A join of a stream with the version of a table at an event time."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import Node
from compiler.plan.operators._stream_join import StreamJoin, delay_of
from compiler.plan.schema import Field

BUCKETS: Final = 32
"""Parts of the state: the most tasks that can share its work. It is in the plan, as state depends on it."""


@frozen
class TemporalJoin(StreamJoin):
    """Joins each row of the left with the row of the right that was valid at its event time.

    The right side is the history of a table by `keys`: appended versions, or changes. A row of the left
    waits until the watermark has passed its time, since a version may still come until then. A deletion holds
    from its own event time on.

    Args:
        left_time, right_time: event times of a row and of a version.
        allow_unbounded: whether it was said that the last version of every key may be kept for ever.
    """

    kind: ClassVar[str] = "temporal_join"

    left_time: str
    right_time: str
    allow_unbounded: bool

    def takes_changes(self, index: int) -> bool:
        # The changes of a table are its versions, the rows that they take back are none.
        return index == 1 and not self.right.changelog.before

    def _delay(self, field: Field, side: Node) -> int | None:
        if field.name != self.left_time or field.watermark_ms is None:
            return None
        return self._lag()

    def _lag(self) -> int:
        return max(delay_of(self.left, self.left_time), delay_of(self.right, self.right_time))

    def bound(self) -> str:
        return (
            f"forgets a row {format_ms(self._lag())} after {self.left_time}; unbounded on the right, because "
            "the last version of each key stays"
        )

    def describe(self) -> str:
        rest = f" and {to_sql(self.condition)}" if self.condition is not None else ""
        keys = " and ".join(f"{to_sql(key.left)} = {to_sql(key.right)}" for key in self.keys)
        return f"{self.join} on {keys}{rest} as of {self.left_time}"

    def _stored(self) -> dict[str, Any]:
        changes = not self.right.changelog.is_append
        return {"times": [self.left_time, self.right_time], "changes": changes, "buckets": BUCKETS}

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        left, right = inputs
        return job.TemporalJoin(
            id=id_,
            uid=self.uid,
            inputs=(left, right),
            kind="left" if self.join == "left" else "inner",
            keys=tuple(key.lower() for key in self.keys),
            condition=to_sql(self.condition) if self.condition is not None else None,
            left_time=job.EventTime(self.left_time, delay_of(self.left, self.left_time)),
            right_time=self.right_time,
            changes=not self.right.changelog.is_append,
            output=self.output(),
            buckets=BUCKETS,
        )
