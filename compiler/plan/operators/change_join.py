"""A join of two tables that change."""

from __future__ import annotations

from typing import Any, ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.sorting import BUCKETS
from compiler.plan import types as t
from compiler.plan.changelog import RETRACT, Changelog
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._stream_join import StreamJoin
from compiler.plan.operators.project import carried_column


@frozen
class ChangeJoin(StreamJoin):
    """Every row of one side with every row of the other that has equal keys, as the tables are now.

    A side is changes that name the rows that go, or rows that only come. Outer joins are of keys alone: a row
    without a partner is given, and taken back when one comes. With `state_ttl_ms` a row is forgotten so long
    after it came; what was joined with it stays. Nothing behind it is an event time.

    Where a side has at most one row for a row of the other, the key of that other tells the rows of the join
    apart; else the keys of both together do. Without keys its rows come and go.
    """

    kind: ClassVar[str] = "change_join"

    state_ttl_ms: int | None

    def takes_changes(self, index: int) -> bool:
        return self.inputs[index].changelog.before

    def _derive_changelog(self) -> Changelog:
        key = self._key
        return RETRACT if key is None else Changelog("upsert", key, before=True)

    @property
    def _key(self) -> tuple[str, ...] | None:
        left, right = (node.changelog for node in self.inputs)
        if left.kind != "upsert" or right.kind != "upsert":
            return None
        if self.join in ("inner", "left") and self._finds_one(1):
            return left.key
        if self.join in ("inner", "right") and self._finds_one(0):
            return right.key
        return (*left.key, *right.key)

    def _finds_one(self, index: int) -> bool:
        """Whether the keys of the join contain that of a side; a cast may make one value of two."""
        compared = {carried_column(key.of_one_type[index]) for key in self.keys}
        return set(self.inputs[index].changelog.key) <= compared

    @property
    def heeds_watermark(self) -> bool:
        return False

    def bound(self) -> str:
        if self.state_ttl_ms is None:
            return "unbounded, because a partner may come at any time (allow_unbounded)"
        return f"forgets a row {format_ms(self.state_ttl_ms)} after it came"

    def _stored(self) -> dict[str, Any]:
        return {"buckets": BUCKETS}

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        left, right = inputs
        key = self._key
        # Rows are told apart by plain values only; without a key they are told apart as a whole.
        plain = key is not None and all(
            (field := self.schema.get(name)) is not None and t.is_atomic(field.type) for name in key
        )
        return job.ChangeJoin(
            id=id_,
            uid=self.uid,
            inputs=(left, right),
            kind=self.join,
            keys=tuple(key.lower() for key in self.keys),
            condition=to_sql(self.condition) if self.condition is not None else None,
            columns=tuple(tuple(node.schema.names) for node in self.inputs),
            key=key if plain else None,
            ttl_ms=self.state_ttl_ms,
        )
