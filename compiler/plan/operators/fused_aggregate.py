"""Several window aggregates over one input, as one."""

from __future__ import annotations

import hashlib
import json
from typing import ClassVar, Final

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.fused_aggregate import FusedAggregate as FusedAggregateJob
from compiler.jobplan.operators.fused_aggregate import FusedBranch
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import EdgeKind
from compiler.plan.operators._one_input import OneInput
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Field, Schema
from compiler.plan.types import INT, DataType, Timestamp

BRANCH: Final = "__headrace_branch"


@frozen
class Branch:
    """One of the aggregates, over columns of the common input.

    Args:
        number: tells its rows apart in the state; never given to another aggregate of the same state.
        uid: that of the aggregate that it was.
        condition: which rows of the input it takes, None for all.
        size_ms, slide_ms, offset_ms: its windows, tumbling if the slide is the size.
        window_condition: which rows it takes once they are in a window, over the window's bounds too.
        keys: its keys besides the window's bounds, by the name of the slot that holds each.
        cumulates: whether its windows begin together, `size_ms` apart, and end at each slide after that.
    """

    number: int
    uid: str
    condition: Expr | None
    size_ms: int
    slide_ms: int
    offset_ms: int
    window_condition: Expr | None
    keys: tuple[NamedExpr, ...]
    cumulates: bool = False

    def describe(self) -> str:
        """Its windows and keys, for people."""
        if self.slide_ms == self.size_ms:
            return f"{self.uid}: tumble {format_ms(self.size_ms)}"
        shape = "cumulate" if self.cumulates else "hop"
        return f"{self.uid}: {shape} {format_ms(self.size_ms)} every {format_ms(self.slide_ms)}"

    def fingerprint(self) -> str:
        """What its part of the stored rows depends on."""
        parts = [
            to_sql(self.condition) if self.condition is not None else None,
            [self.size_ms, self.slide_ms, self.offset_ms],
            to_sql(self.window_condition) if self.window_condition is not None else None,
            [[key.name, to_sql(key.expr)] for key in self.keys],
            *(["cumulate"] if self.cumulates else []),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


@frozen
class Value:
    """An aggregate as Spark SQL over the input's columns and BRANCH."""

    name: str
    sql: str
    type: DataType


@frozen
class FusedAggregate(OneInput):
    """Groups of all branches in one state; a group is emitted once the watermark has passed its end.

    Args:
        time_column: the event time of the input.
        branches: the aggregates.
        slots: key columns, each with the type of the keys that share it.
        values: aggregates, each computed for the branches that ask for it.
        layout: the state's layout, with what is left of branches that have gone; see `chain.layout`.
        reads: names of the input's columns that any of it is computed from.
    """

    kind: ClassVar[str] = "fused_aggregate"

    time_column: str
    branches: tuple[Branch, ...]
    slots: tuple[Field, ...]
    values: tuple[Value, ...]
    layout: tuple[str, ...]
    reads: tuple[str, ...] = ()

    def _derive_schema(self) -> Schema:
        end = Field(END, Timestamp(3), False, self._delay_ms)
        values = tuple(Field(value.name, value.type) for value in self.values)
        return Schema((Field(BRANCH, INT, False), end, *self.slots, *values))

    @property
    def _delay_ms(self) -> int:
        field = self.input.schema.get(self.time_column)
        assert field is not None
        assert field.watermark_ms is not None
        return field.watermark_ms

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(key.expr for branch in self.branches for key in branch.keys)

    def edge_from(self, index: int) -> EdgeKind:
        return "hash"

    @property
    def is_stateful(self) -> bool:
        return True

    def state(self, operator: str) -> job.State | None:
        longest = max(branch.size_ms for branch in self.branches)
        delay = format_ms(self._delay_ms)
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=(BRANCH, END, *(slot.name for slot in self.slots)),
            fingerprint=hashlib.sha256(json.dumps(self.layout).encode()).hexdigest()[:16],
            bound=f"closes at most {format_ms(longest + self._delay_ms)} after a window's start "
            f"({delay} after its end)",
            layout=self.layout,
        )

    @property
    def stored_columns(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.values)

    def describe(self) -> str:
        return "; ".join(branch.describe() for branch in self.branches)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return FusedAggregateJob(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            time_column=self.time_column,
            delay_ms=self._delay_ms,
            branches=tuple(
                FusedBranch(
                    number=branch.number,
                    uid=branch.uid,
                    condition=to_sql(branch.condition) if branch.condition is not None else None,
                    size_ms=branch.size_ms,
                    slide_ms=branch.slide_ms,
                    offset_ms=branch.offset_ms,
                    window_condition=(
                        to_sql(branch.window_condition) if branch.window_condition is not None else None
                    ),
                    keys=tuple(job.Item(key.name, to_sql(key.expr)) for key in branch.keys),
                    cumulates=branch.cumulates,
                )
                for branch in self.branches
            ),
            slots=tuple(job.Column(slot.name, slot.type.sql) for slot in self.slots),
            values=tuple(job.Item(value.name, value.sql) for value in self.values),
            branch=BRANCH,
            start=START,
            end=END,
            time=TIME,
        )
