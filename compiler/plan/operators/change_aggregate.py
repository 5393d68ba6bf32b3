"""GROUP BY whose rows can be taken back, or whose groups have a time to live."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.change_aggregate import Function
from compiler.jobplan.operators.sorting import BUCKETS
from compiler.plan.changelog import Changelog
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._fingerprint import fingerprint
from compiler.plan.operators._one_input import KeyedState
from compiler.plan.operators.project import NamedExpr, lower_items, project_field
from compiler.plan.schema import Field, Schema
from compiler.plan.types import DataType


@frozen
class Accumulator:
    """An aggregate that can take a value back.

    Args:
        name: of the output column.
        function: what is computed.
        arg: of what, NULL for a row that FILTER leaves out; None counts rows.
        type: of the result.
        nullable: whether the result may be NULL.
    """

    name: str
    function: Function
    arg: Expr | None
    type: DataType
    nullable: bool

    def lower(self) -> job.Accumulate:
        """As the job plan has it."""
        sql = None if self.arg is None else to_sql(self.arg)
        return job.Accumulate(self.name, self.function, sql, self.type.sql)


@frozen
class ChangeAggregate(KeyedState):
    """One row per group, as changes; in state by bucket, where Spark's own cannot do it.

    Over changes (`Normalize`) it takes back what a row has added before it adds the row that replaces it, and
    deletes a group whose last row goes. Without keys there is one row, whatever goes.

    Args:
        keys: what makes a group; plain values.
        aggregates: what is computed of it.
        state_ttl_ms: how long a group is kept that gets no row (milliseconds of processing time).
    """

    kind: ClassVar[str] = "aggregate"

    keys: tuple[NamedExpr, ...]
    aggregates: tuple[Accumulator, ...]
    state_ttl_ms: int | None

    def _derive_schema(self) -> Schema:
        keys = tuple(project_field(key, self.input.schema) for key in self.keys)
        return Schema((*keys, *(Field(a.name, a.type, a.nullable) for a in self.aggregates)))

    def takes_changes(self, index: int) -> bool:
        return self.input.changelog.before

    def _derive_changelog(self) -> Changelog:
        # A group that was dropped and comes again is said to be new.
        return Changelog("upsert", tuple(key.name for key in self.keys), exact=self.state_ttl_ms is None)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        args = (a.arg for a in self.aggregates if a.arg is not None)
        return (*(key.expr for key in self.keys), *args)

    @property
    def heeds_watermark(self) -> bool:
        return False

    def _bound(self) -> str:
        if self.state_ttl_ms is not None:
            return f"a group goes {format_ms(self.state_ttl_ms)} after its last row"
        return "unbounded, because no key is an event time" if self.keys else "one row"

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        stored = {
            "keys": [[to_sql(key.expr), key.expr.type.sql] for key in self.keys],
            "aggregates": [
                [a.function, "" if a.arg is None else to_sql(a.arg), "" if a.arg is None else a.arg.type.sql]
                for a in self.aggregates
            ],
            "buckets": BUCKETS,
        }
        names = tuple(key.name for key in self.keys)
        return job.State(operator, self.uid, self.kind, names, fingerprint(stored), self._bound())

    def describe(self) -> str:
        keys = ", ".join(str(key) for key in self.keys)
        return f"by {keys or 'nothing'}: {', '.join(str(a.lower()) for a in self.aggregates) or 'keys only'}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.ChangeAggregate(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            keys=lower_items(self.keys),
            aggregates=tuple(a.lower() for a in self.aggregates),
            ttl_ms=self.state_ttl_ms,
        )
