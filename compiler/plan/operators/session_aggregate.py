"""GROUP BY over the sessions of a key, in one operator: only running aggregates are state."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.operators.session import describe_session
from compiler.plan.expr import Expr, columns_of
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._one_input import KeyedState
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.session import session_closes
from compiler.plan.operators.window import END, START, TIME, window_fields
from compiler.plan.schema import Field, Schema


@frozen
class SessionAggregate(KeyedState):
    """One row per session of a key, emitted once the watermark has passed its end.

    Args:
        keys: the output names of the group's keys, in order, each with what it is: a column of the input,
            which parts the sessions, or window_start, window_end or window_time of the session.
        time_column: the event time of the input.
        gap_ms: the longest silence within a session.
        aggregates: over the input's columns.
    """

    kind: ClassVar[str] = "session_aggregate"

    keys: tuple[tuple[str, str], ...]
    time_column: str
    gap_ms: int
    aggregates: tuple[NamedExpr, ...]

    @property
    def partition(self) -> tuple[tuple[str, str], ...]:
        """The keys that part sessions."""
        return tuple(key for key in self.keys if key[1] not in (START, END, TIME))

    @property
    def _delay_ms(self) -> int | None:
        time = self.input.schema.get(self.time_column)
        assert time is not None
        return time.watermark_ms

    def _derive_schema(self) -> Schema:
        bounds = {field.name: field for field in window_fields(self.uid, self._delay_ms)}
        keys = [replace(bounds.get(column) or self._key(column), name=name) for name, column in self.keys]
        values = (Field(item.name, item.expr.type, item.expr.nullable) for item in self.aggregates)
        return Schema((*keys, *values))

    def _key(self, column: str) -> Field:
        field = self.input.schema.get(column)
        assert field is not None
        return replace(field, watermark_ms=None) if self.is_stream else field

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(item.expr for item in self.aggregates)

    def closes(self, delay_ms: int) -> str:
        """When a session is let go, as a sentence."""
        return session_closes(self.gap_ms, delay_ms)

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        assert self._delay_ms is not None  # a window over a stream lies over an event time
        read = {name for item in self.aggregates for name in columns_of(item.expr)}
        columns = {column for _, column in self.partition}
        stored = {
            "session": describe_session(self.gap_ms, self.time_column, ()),
            "keys": [[f.name, f.type.sql] for f in self.input.schema if f.name in columns],
            "aggregates": [[to_sql(item.expr), item.expr.type.sql] for item in self.aggregates],
            "reads": [[f.name, f.type.sql] for f in self.input.schema if f.name in read],
        }
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=tuple(name for name, _ in self.partition),
            fingerprint=hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16],
            bound=self.closes(self._delay_ms),
        )

    @property
    def stored_columns(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.aggregates)

    def describe(self) -> str:
        columns = tuple(column for _, column in self.partition)
        values = ", ".join(str(item) for item in self.aggregates)
        return (
            f"sessions of {describe_session(self.gap_ms, self.time_column, columns)}: {values or 'keys only'}"
        )

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        named = {column: name for name, column in self.keys}
        return job.SessionAggregate(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            keys=tuple(job.Item(name, column) for name, column in self.partition),
            time_column=self.time_column,
            gap_ms=self.gap_ms,
            delay_ms=self._delay_ms,
            aggregates=tuple(job.Item(item.name, to_sql(item.expr)) for item in self.aggregates),
            output=self.schema.names,
            start=named.get(START),
            end=named.get(END),
            time=named.get(TIME),
        )
