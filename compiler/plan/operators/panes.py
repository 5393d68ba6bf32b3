"""What the rows of a pane amount to: the first of two steps of a window aggregate."""

from __future__ import annotations

from typing import ClassVar, Final

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import EdgeKind
from compiler.plan.operators._one_input import OneInput
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field, Schema
from compiler.plan.types import BIGINT, INT, DataType, Timestamp

GROUP: Final = "__headrace_pane_group"
PANE: Final = "__headrace_pane"
ROWS: Final = "__headrace_rows"


@frozen
class PaneGroup:
    """Rows of one set of keys and one length of panes.

    Args:
        number: from 1; 0 is given to what no group takes.
        condition: which rows it takes, None for all.
        size_ms, offset_ms: its panes begin at multiples of the size, plus the offset.
        keys: its keys, by the name of the slot that holds each.
    """

    number: int
    condition: Expr | None
    size_ms: int
    offset_ms: int
    keys: tuple[NamedExpr, ...]

    def describe(self) -> str:
        """Its length and keys, for people."""
        keys = ", ".join(to_sql(key.expr) for key in self.keys)
        return f"{format_ms(self.size_ms)} by {keys or 'nothing'}"


@frozen
class Partial:
    """A column of partial values.

    Args:
        name: of the column.
        sql: the aggregate over the rows of a pane, as Spark SQL over the input's columns and GROUP.
        single: the same of a pane of one row.
        type: of both.
    """

    name: str
    sql: str
    single: str
    type: DataType


@frozen
class Panes(OneInput):
    """Rows to partial values of panes, of which every window is made up.

    J. Li et al., "No Pane, No Gain", SIGMOD Record 34(1), 2005. A pane may come in any number of parts, and
    each row may be one: what puts them together (`FusedAggregate`) does not care. A row that no group takes
    still moves the watermark, so its time goes into a pane of group 0.

    Args:
        time_column: the event time of the input; a part of a pane has the greatest of its rows.
        groups: the panes.
        slots: key columns, each with the type of the keys that share it.
        partials: what is computed.
        reads: names of the input's columns that any of it is computed from.
        ahead: whether the rows of an epoch are put together before they enter the stream.
    """

    kind: ClassVar[str] = "panes"

    time_column: str
    groups: tuple[PaneGroup, ...]
    slots: tuple[Field, ...]
    partials: tuple[Partial, ...]
    reads: tuple[str, ...]
    ahead: bool

    def _derive_schema(self) -> Schema:
        time = self._time
        return Schema(
            (
                Field(GROUP, INT, False),
                # Windows lie over it, by the watermark of the rows' own times.
                Field(PANE, Timestamp(3), False, time.watermark_ms),
                time,
                *self.slots,
                *(Field(partial.name, partial.type) for partial in self.partials),
                Field(ROWS, BIGINT, False),
            )
        )

    @property
    def _time(self) -> Field:
        field = self.input.schema.get(self.time_column)
        assert field is not None
        return field

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(key.expr for group in self.groups for key in group.keys)

    def edge_from(self, index: int) -> EdgeKind:
        return "hash" if self.ahead else "forward"

    def edge_keys(self, index: int) -> tuple[str, ...]:
        return (GROUP, PANE, *(slot.name for slot in self.slots))

    def describe(self) -> str:
        return "; ".join(group.describe() for group in self.groups)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        delay_ms = self._time.watermark_ms
        assert delay_ms is not None
        return job.Panes(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            time_column=self._time.name,
            delay_ms=delay_ms,
            groups=tuple(
                job.PaneGroup(
                    number=group.number,
                    condition=to_sql(group.condition) if group.condition is not None else None,
                    size_ms=group.size_ms,
                    offset_ms=group.offset_ms,
                    keys=tuple(job.Item(key.name, to_sql(key.expr)) for key in group.keys),
                )
                for group in self.groups
            ),
            slots=tuple(job.Column(slot.name, slot.type.sql) for slot in self.slots),
            partials=tuple(job.Partial(p.name, p.sql, p.single) for p in self.partials),
            group=GROUP,
            pane=PANE,
            rows=ROWS,
            ahead=self.ahead,
        )
