"""Functions OVER the rows before one."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.over import OverFunction
from compiler.jobplan.operators.sorting import BUCKETS
from compiler.plan import expr as e
from compiler.plan.expr import Column, Expr, SortKey
from compiler.plan.expr_sql import sort_sql, to_sql
from compiler.plan.node import EdgeKind
from compiler.plan.operators._fingerprint import fingerprint
from compiler.plan.operators._one_input import OneInput
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.top_n import lower_order
from compiler.plan.schema import Field, Schema

ROW_NUMBER = "row_number"
UNNAMED = "__over_"
"""How the name of a column begins that the user gave none; no name of a user's begins so."""


@frozen
class Over(OneInput):
    """Adds columns that are computed from the rows before each, in the order of an event time.

    Args:
        partition: rows of other keys do not count.
        order: in which order rows come.
        functions: the new columns; each is an `expr.Over` of this partition and order.
        state_ttl_ms: how long a partition is kept that does not change.
        allow_unbounded: whether the user has said that state may grow for ever.
    """

    kind: ClassVar[str] = "over"

    partition: tuple[Expr, ...]
    order: tuple[SortKey, ...]
    functions: tuple[NamedExpr, ...]
    state_ttl_ms: int | None
    allow_unbounded: bool

    def _derive_schema(self) -> Schema:
        time = self.time
        kept = [f if f is time else replace(f, watermark_ms=None) for f in self.input.schema]
        added = (Field(item.name, item.expr.type, item.expr.nullable) for item in self.functions)
        return Schema((*kept, *added))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(item.expr for item in self.functions)

    def edge_from(self, index: int) -> EdgeKind:
        return "hash"

    @cached_property
    def time(self) -> Field | None:
        """The event time that orders the rows, if it is that alone, ascending."""
        key = self.order[0] if len(self.order) == 1 else None
        if key is None or key.descending or not isinstance(key.expr, Column):
            return None
        field = self.input.schema.get(key.expr.name)
        return field if field is not None and field.is_event_time else None

    @property
    def row_number(self) -> NamedExpr | None:
        """The only function, if it is ROW_NUMBER: what Top-N is written with."""
        only = self.functions[0] if len(self.functions) == 1 else None
        if only is None or not isinstance(only.expr, e.Over) or only.expr.call.name != ROW_NUMBER:
            return None
        return only

    @property
    def is_unbounded(self) -> bool:
        """Whether something of each partition is kept although all its rows are long past."""
        return any(isinstance(f.expr, e.Over) and not _is_bounded(f.expr) for f in self.functions)

    @property
    def is_stateful(self) -> bool:
        return self.is_stream

    def bound(self) -> str:
        """How long rows are kept, as a sentence."""
        frames = [f.expr.frame for f in self.functions if isinstance(f.expr, e.Over)]
        if not self.is_unbounded:
            longest = max((frame.preceding or 0 for frame in frames), default=0)
            delay = self.time.watermark_ms or 0 if self.time else 0
            return f"a row goes {format_ms(longest + delay)} after its time"
        if self.state_ttl_ms is not None:
            return f"a partition goes {format_ms(self.state_ttl_ms)} after its last change"
        return "unbounded, because the last rows of each partition are kept"

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        stored = {
            "keys": [[to_sql(key), key.type.sql] for key in self.partition],
            "order": [[sort_sql(key), key.expr.type.sql] for key in self.order],
            "functions": [[to_sql(item.expr), item.expr.type.sql] for item in self.functions],
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
        return ", ".join(str(item) for item in self.functions)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Over(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            keys=tuple(to_sql(key) for key in self.partition),
            order=lower_order(self.order),
            functions=tuple(_lower_function(item) for item in self.functions),
            time_column=self.time.name if self.time else None,
            event_times={f.name: f.watermark_ms for f in self.schema if f.watermark_ms is not None},
            ttl_ms=self.state_ttl_ms,
        )


def _is_bounded(over: e.Over) -> bool:
    return over.frame.unit == "range" and over.frame.preceding is not None


def _lower_function(item: NamedExpr) -> OverFunction:
    over = item.expr
    assert isinstance(over, e.Over)
    call = over.call
    args, offset = call.args, 0
    if call.name == "lag":
        given = call.args[1] if len(call.args) > 1 else None
        offset = given.value if isinstance(given, e.Literal) and isinstance(given.value, int) else 1
        args = call.args[:1] + call.args[2:]
    return OverFunction(
        name=item.name,
        function=call.name,
        args=tuple(to_sql(arg) for arg in args),
        where=to_sql(call.where) if call.where is not None else None,
        unit=over.frame.unit,
        preceding=over.frame.preceding,
        type=over.type.sql,
        sql=to_sql(over),
        offset=offset,
        ignore_nulls=call.ignore_nulls,
    )
