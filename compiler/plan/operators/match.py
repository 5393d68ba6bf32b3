"""MATCH_RECOGNIZE."""

from __future__ import annotations

import hashlib
import json
from typing import ClassVar

import msgspec

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.match import (
    AnyPattern,
    Condition,
    Order,
    Output,
    Skip,
    spell,
)
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._one_input import KeyedState
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field, Schema

# A bucket's state is read and written as a whole, so there are more of them than cores; each costs a call an
# epoch. The number is part of the state.
_BUCKETS = 16


@frozen
class Match(KeyedState):
    """Finds a pattern in the rows of each key and gives one row a match.

    Args:
        keys, time_column: columns of the input.
        order: further sort columns.
        reads: expressions over one row that the matcher needs.
        skip: where the search goes on; `skip_given` says whether the user wrote it.
        within_ms: a match takes less time than that, or None.
        unbounded_allowed: whether the model says that rows may be kept for ever.
        outputs: what a match hands out; `measures` are computed from their columns.
        rowtimes: measures that are the time of the match's last row, and so event times.
    """

    kind: ClassVar[str] = "match"

    keys: tuple[str, ...]
    time_column: str
    order: tuple[Order, ...]
    reads: tuple[NamedExpr, ...]
    pattern: AnyPattern
    conditions: tuple[Condition, ...]
    skip: Skip
    skip_given: bool
    within_ms: int | None
    unbounded_allowed: bool
    outputs: tuple[Output, ...]
    measures: tuple[NamedExpr, ...]
    rowtimes: tuple[str, ...]

    @property
    def _time(self) -> Field:
        field = self.input.schema.get(self.time_column)
        assert field is not None
        return field

    def _derive_schema(self) -> Schema:
        keys = [field for name in self.keys if (field := self.input.schema.get(name)) is not None]
        delay = self._time.watermark_ms
        measures = [
            Field(m.name, m.expr.type, False, delay)
            if m.name in self.rowtimes
            else Field(m.name, m.expr.type, m.expr.nullable)
            for m in self.measures
        ]
        return Schema((*(Field(key.name, key.type, key.nullable) for key in keys), *measures))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(item.expr for item in self.reads)

    def bound(self) -> str:
        """How long rows are kept, as a sentence."""
        if self.within_ms is None:
            return "unbounded, because the pattern has no WITHIN"
        delay = self._time.watermark_ms or 0
        return f"a row is kept for at most {format_ms(self.within_ms + delay)}"

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=self.keys,
            fingerprint=self._fingerprint(),
            bound=self.bound(),
        )

    def _fingerprint(self) -> str:
        # Rows of unfinished matches are kept as the matcher reads them, and their places in the pattern.
        stored = {
            "keys": [[f.name, f.type.sql] for f in self.schema.fields[: len(self.keys)]],
            "time": self.time_column,
            "order": msgspec.to_builtins(self.order),
            "reads": [[to_sql(item.expr), item.expr.type.sql] for item in self.reads],
            "buckets": _BUCKETS,
            "pattern": msgspec.to_builtins(self.pattern),
        }
        return hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16]

    @property
    def stored_columns(self) -> tuple[str, ...]:
        return tuple(item.name for item in self.reads)

    def describe(self) -> str:
        by = ", ".join(self.keys)
        within = f" within {format_ms(self.within_ms)}" if self.within_ms is not None else ""
        skip = self.skip.mode.replace("_", " ") + (f" {self.skip.variable}" if self.skip.variable else "")
        names = ", ".join(m.name for m in self.measures) or "keys only"
        ordered = f"by {by} " if by else ""
        return f"{ordered}over {self.time_column}: {spell(self.pattern)}{within}, skip {skip}: {names}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Match(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            key_columns=self.keys,
            time_column=self._time.name,
            delay_ms=self._time.watermark_ms,
            order=self.order,
            reads=tuple(job.Item(item.name, to_sql(item.expr)) for item in self.reads),
            pattern=self.pattern,
            conditions=self.conditions,
            skip=self.skip,
            within_ms=self.within_ms,
            outputs=self.outputs,
            buckets=_BUCKETS if self.keys else 1,
            measures=tuple(job.Item(m.name, to_sql(m.expr)) for m in self.measures),
            rowtimes=self.rowtimes,
        )
