"""Changes that bring the row before them, for operators that take rows back."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.sorting import BUCKETS
from compiler.plan.changelog import Changelog
from compiler.plan.operators._fingerprint import fingerprint
from compiler.plan.operators._one_input import KeyedState
from compiler.plan.schema import Schema


@frozen
class Normalize(KeyedState):
    """Remembers the last row of each key of changes, and hands on what really changed.

    Args:
        state_ttl_ms: how long a row is remembered that does not change (milliseconds of processing time).
    """

    kind: ClassVar[str] = "normalize"

    state_ttl_ms: int | None = None

    def _derive_schema(self) -> Schema:
        return self.input.schema

    def takes_changes(self, index: int) -> bool:
        return True

    def _derive_changelog(self) -> Changelog:
        return Changelog("upsert", self.input.changelog.key, self.state_ttl_ms is None, before=True)

    @property
    def orders_rows(self) -> bool:
        return True

    @property
    def heeds_watermark(self) -> bool:
        return False

    def _bound(self) -> str:
        if self.state_ttl_ms is not None:
            return f"a row goes {format_ms(self.state_ttl_ms)} after its last change"
        return "unbounded, because a change may come for every key"

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        key = self.input.changelog.key
        stored = {
            "keys": key,
            "rows": [[f.name, f.type.sql] for f in self.schema],
            "buckets": BUCKETS,
        }
        return job.State(operator, self.uid, self.kind, key, fingerprint(stored), self._bound())

    def describe(self) -> str:
        return f"by {', '.join(self.input.changelog.key) or 'nothing'}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Normalize(id_, self.uid, inputs, self.input.changelog.key, self.state_ttl_ms)
