"""GROUP BY."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.changelog import APPEND, Changelog
from compiler.plan.expr import Column, Expr, columns_of
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import EdgeKind, walk
from compiler.plan.operators._one_input import OneInput
from compiler.plan.operators.project import NamedExpr, project_field
from compiler.plan.operators.session import Session
from compiler.plan.operators.session_aggregate import SessionAggregate
from compiler.plan.operators.window import Window
from compiler.plan.schema import Field, Schema


@frozen
class Aggregate(OneInput):
    """One row per group.

    A group with an event time among its keys is emitted once the watermark has passed that time. On a
    stream without one, a group changes for ever: each epoch emits the groups that it has changed.

    A window's time among the keys follows from its end, so it is no key of the state: it is computed
    after grouping.
    """

    kind: ClassVar[str] = "aggregate"

    keys: tuple[NamedExpr, ...]
    aggregates: tuple[NamedExpr, ...]

    def _derive_schema(self) -> Schema:
        keys = tuple(project_field(key, self.input.schema) for key in self.keys)
        values = tuple(Field(item.name, item.expr.type, item.expr.nullable) for item in self.aggregates)
        return Schema((*keys, *values))

    def _derive_changelog(self) -> Changelog:
        if not self.is_stream or self.event_time_key is not None:
            return APPEND
        return Changelog("upsert", tuple(key.name for key in self.keys))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(item.expr for item in (*self.keys, *self.aggregates))

    def edge_from(self, index: int) -> EdgeKind:
        return "hash"

    @cached_property
    def event_time_key(self) -> Field | None:
        """The key whose watermark closes a group: a window's end, or an event time itself."""
        marked = [f for f in self.schema.fields[: len(self.keys)] if f.is_event_time]
        ends = [f for f in marked if f.window and f.window.part == "end"]
        plain = [f for f in marked if f.window is None]
        return next(iter((*ends, *plain, *marked)), None)

    @cached_property
    def window(self) -> Window | Session | SessionAggregate | None:
        """The window whose bounds are among the keys."""
        key = self.event_time_key
        if key is None or key.window is None:
            return None
        uid = key.window.window
        windows = (n for n in walk(self) if isinstance(n, (Window, Session, SessionAggregate)))
        return next((window for window in windows if window.uid == uid), None)

    @property
    def is_stateful(self) -> bool:
        return self.is_stream

    @property
    def updates(self) -> bool:
        return not self.changelog.is_append

    @property
    def heeds_watermark(self) -> bool:
        return self.is_stateful and self.event_time_key is not None

    def bound(self) -> str:
        """How long a group is kept, as a sentence."""
        key = self.event_time_key
        if key is None or key.watermark_ms is None:
            return "unbounded, because no key is an event time" if self.keys else "one row"
        window = self.window
        if window is None:
            return f"closes {format_ms(key.watermark_ms)} after its time"
        return window.closes(key.watermark_ms)

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=tuple(key.name for key in self.keys),
            fingerprint=self._fingerprint(),
            bound=self.bound(),
        )

    def _fingerprint(self) -> str:
        window = self.window
        schema = self.input.schema
        stored = {
            "keys": [[to_sql(key.expr), key.expr.type.sql] for key in self.keys],
            "aggregates": [[to_sql(item.expr), item.expr.type.sql] for item in self.aggregates],
            "reads": [
                [f.name, f.type.sql]
                for f in schema
                if any(f.name in columns_of(item.expr) for item in self.aggregates)
            ],
            "window": window.describe() if window else None,
        }
        return hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16]

    @property
    def stored_columns(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.aggregates)

    def describe(self) -> str:
        keys = ", ".join(str(key) for key in self.keys)
        values = ", ".join(str(item) for item in self.aggregates)
        return f"by {keys or 'nothing'}: {values or 'keys only'}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        key = self.event_time_key if self.is_stateful else None
        times = [k for k in self.keys if self._is_window_time(k) and key is not None and key.name != k.name]
        kept = tuple(k for k in self.keys if k not in times)
        time = None
        if times and key is not None:
            end = to_sql(Column(key.type, False, key.name))
            time = job.Item(times[0].name, f"{end} - INTERVAL '0.001' SECOND")
        return job.Aggregate(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            keys=tuple(job.Item(k.name, to_sql(k.expr)) for k in kept),
            aggregates=tuple(job.Item(item.name, to_sql(item.expr)) for item in self.aggregates),
            output=self.schema.names,
            event_time_key=key.name if key else None,
            delay_ms=key.watermark_ms if key else None,
            window_time=time,
            upsert=self.updates,
        )

    def _is_window_time(self, key: NamedExpr) -> bool:
        field = project_field(key, self.input.schema)
        return field.window is not None and field.window.part == "time"
