"""The first rows of each group: Top-N and deduplication."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.sorting import BUCKETS, Sort
from compiler.jobplan.operators.top_n import Emit
from compiler.plan.changelog import APPEND, Changelog
from compiler.plan.expr import Column, Expr, SortKey
from compiler.plan.expr_sql import sort_sql, to_sql
from compiler.plan.node import EdgeKind
from compiler.plan.operators._fingerprint import fingerprint
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Field, Schema
from compiler.plan.types import INT


@frozen
class TopN(OneInput):
    """Keeps the first rows of each group.

    Args:
        partition: the group's keys.
        order: in which order rows come; rows that are equal come in the order of their arrival.
        limit: how many are kept.
        rank: the column that takes a row's number, or None.
        state_ttl_ms: how long a group is kept that does not change, where time does not close it.
        allow_unbounded: whether the user has said that state may grow for ever.
    """

    kind: ClassVar[str] = "top"

    partition: tuple[Expr, ...]
    order: tuple[SortKey, ...]
    limit: int
    rank: str | None
    state_ttl_ms: int | None
    allow_unbounded: bool

    def _derive_schema(self) -> Schema:
        fields = [self._field(f) for f in self.input.schema]
        if self.rank is not None:
            fields.append(Field(self.rank, INT, False))
        return Schema(tuple(fields))

    def _field(self, field: Field) -> Field:
        """A group that closes or changes lets its rows go when their own times are long past."""
        if self.emit == "retracting":
            return replace(field, watermark_ms=None)
        if self.emit == "closed" and field.is_event_time and not self._closes_with(field):
            return replace(field, watermark_ms=None)
        return field

    def _closes_with(self, field: Field) -> bool:
        key = self.closing_key
        if key is None or field.name == key.name:
            return True
        return (
            key.window is not None and field.window is not None and field.window.window == key.window.window
        )

    def _derive_changelog(self) -> Changelog:
        if self.emit not in ("changes", "retracting"):
            return APPEND
        keys = tuple(key.name for key in self.partition if isinstance(key, Column))
        key = keys if self.limit == 1 or self.rank is None else (*keys, self.rank)
        if self.emit == "retracting":
            return Changelog("upsert", key, before=True)
        # A group that was dropped and comes again is said to be new.
        return Changelog("upsert", key, exact=self.state_ttl_ms is None)

    def takes_changes(self, index: int) -> bool:
        return self.input.changelog.before

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (*self.partition, *(key.expr for key in self.order))

    def edge_from(self, index: int) -> EdgeKind:
        return "hash"

    @property
    def _order_field(self) -> Field | None:
        """The column that alone says the order."""
        key = self.order[0].expr if len(self.order) == 1 else None
        return self.input.schema.get(key.name) if isinstance(key, Column) else None

    @cached_property
    def closing_key(self) -> Field | None:
        """The key whose watermark closes a group: a window's end, or an event time itself."""
        if not self.input.changelog.is_append:
            # A row may be taken back at any time.
            return None
        names = [key.name for key in self.partition if isinstance(key, Column)]
        marked = [f for name in names if (f := self.input.schema.get(name)) and f.is_event_time]
        ends = [f for f in marked if f.window and f.window.part == "end"]
        return next(iter((*ends, *(f for f in marked if f.window is None), *marked)), None)

    @cached_property
    def emit(self) -> Emit:
        """When rows go out."""
        if self.closing_key is not None:
            return "closed"
        if not self.input.changelog.is_append:
            return "retracting"
        by = self._order_field
        if self.limit == 1 and by is not None and not self.order[0].descending:
            if by.is_processing_time:
                return "first_by_arrival"
            if by.is_event_time:
                return "first_by_time"
        return "changes"

    @property
    def latest(self) -> bool:
        """Whether of rows of one order the later goes first: the last row by time is the newest known."""
        by = self._order_field
        by_time = by is not None and (by.is_event_time or by.is_processing_time)
        return self.limit == 1 and by_time and self.order[0].descending

    @property
    def is_stateful(self) -> bool:
        return self.is_stream

    @property
    def heeds_watermark(self) -> bool:
        return self.is_stateful and self.emit in ("closed", "first_by_time")

    def bound(self) -> str:
        """How long a group is kept, as a sentence."""
        key = self.closing_key
        if key is not None and key.watermark_ms is not None:
            return f"closes {format_ms(key.watermark_ms)} after {key.name}"
        if self.state_ttl_ms is not None:
            return f"a group goes {format_ms(self.state_ttl_ms)} after its last change"
        return "unbounded, because no key is an event time"

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        stored = {
            "keys": [[to_sql(key), key.type.sql] for key in self.partition],
            "order": [[sort_sql(key), key.expr.type.sql] for key in self.order],
            "limit": self.limit,
            "emit": self.emit,
            "latest": self.latest,
            "rows": [[f.name, f.type.sql] for f in self.input.schema],
            "buckets": BUCKETS,
        }
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=tuple(to_sql(key) for key in self.partition),
            fingerprint=fingerprint(stored),
            bound=self.bound(),
        )

    def describe(self) -> str:
        keys = ", ".join(map(to_sql, self.partition))
        order = ", ".join(map(sort_sql, self.order))
        first = "first row" if self.limit == 1 else f"first {self.limit} rows"
        return f"{first}{f' by {keys}' if keys else ''} in order of {order}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        time = {"closed": self.closing_key, "first_by_time": self._order_field}.get(self.emit)
        return job.TopN(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            keys=tuple(to_sql(key) for key in self.partition),
            order=lower_order(self.order),
            limit=self.limit,
            emit=self.emit,
            rank=self.rank,
            time_column=time.name if time is not None else None,
            latest=self.latest,
            event_times={f.name: f.watermark_ms for f in self.schema if f.watermark_ms is not None},
            ttl_ms=self.state_ttl_ms,
        )


def lower_order(order: tuple[SortKey, ...]) -> tuple[Sort, ...]:
    """ORDER BY as the job plan has it."""
    return tuple(Sort(to_sql(key.expr), key.descending, key.nulls_first) for key in order)
