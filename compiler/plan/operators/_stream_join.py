"""What joins of two streams share."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, Self

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.expr import Cast, Column, Expr, Op, conjunction
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import EdgeKind, Node
from compiler.plan.schema import Field, Schema
from compiler.plan.types import BOOLEAN, common_type

StreamJoinKind = Literal["inner", "left", "right", "full", "semi", "anti"]


@frozen
class JoinKey:
    """What must be equal on both sides."""

    left: Expr
    right: Expr

    @property
    def of_one_type(self) -> tuple[Expr, Expr]:
        """Both sides as they are compared, so that equal values lie in one bucket."""
        found = common_type(self.left.type, self.right.type)
        assert found is not None  # the binder has compared them
        first, second = (
            side if side.type.sql == found.sql else Cast(found, side.nullable, side)
            for side in (self.left, self.right)
        )
        return first, second

    def lower(self) -> job.KeyPair:
        """Both sides as the job plan has them."""
        left, right = self.of_one_type
        return job.KeyPair(to_sql(left), to_sql(right))


@frozen
class StreamJoin(Node):
    """Rows of two streams that belong together; both sides are remembered until no match can come.

    The binder has renamed columns so that the names of both sides differ.

    Args:
        join: which rows are kept that have no partner; semi and anti give the left side's columns only.
        keys: the equalities, without those of windows.
        condition: what else must hold.
    """

    left: Node
    right: Node
    join: StreamJoinKind
    keys: tuple[JoinKey, ...]
    condition: Expr | None

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        left, right = inputs
        return replace(self, left=left, right=right)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        rest = () if self.condition is None else (self.condition,)
        return (*(side for key in self.keys for side in (key.left, key.right)), *rest)

    def edge_from(self, index: int) -> EdgeKind:
        return "hash"

    def edge_keys(self, index: int) -> tuple[str, ...]:
        return tuple(to_sql(key.right if index else key.left) for key in self.keys)

    @property
    def is_stateful(self) -> bool:
        return True

    def _derive_schema(self) -> Schema:
        left_may_lack = self.join in ("right", "full")
        right_may_lack = self.join in ("left", "full")
        left = tuple(self._output(f, self.left, left_may_lack) for f in self.left.schema)
        if self.join in ("semi", "anti"):
            return Schema(left)
        return Schema((*left, *(self._output(f, self.right, right_may_lack) for f in self.right.schema)))

    def _output(self, field: Field, side: Node, may_lack: bool) -> Field:
        """A column behind the join; where a partner may be missing it is NULL, and no event time."""
        delay = None if may_lack else self._delay(field, side)
        window = field.window if delay is not None or self._keeps_windows(may_lack) else None
        return replace(field, nullable=field.nullable or may_lack, watermark_ms=delay, window=window)

    def _delay(self, field: Field, side: Node) -> int | None:
        """How far the watermark of a column lags behind it in the output, or None if it has none."""
        return None

    def _keeps_windows(self, may_lack: bool) -> bool:
        """Whether bounds of windows are still such behind the join."""
        return False

    def _predicates(self) -> list[Expr]:
        """What must hold besides keys and condition."""
        return []

    @cached_property
    def predicate(self) -> Expr:
        """The whole condition."""
        equal: list[Expr] = [
            Op(BOOLEAN, key.left.nullable or key.right.nullable, "=", (key.left, key.right))
            for key in self.keys
        ]
        rest = [] if self.condition is None else [self.condition]
        return conjunction([*equal, *self._predicates(), *rest])

    def describe(self) -> str:
        return f"{self.join} on {to_sql(self.predicate)}"

    def bound(self) -> str:
        """How long rows are kept, as a sentence."""
        raise NotImplementedError  # every join says it

    def state(self, operator: str) -> job.State | None:
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=tuple(to_sql(key.left) for key in self.keys),
            fingerprint=self._fingerprint(),
            bound=self.bound(),
        )

    def _stored(self) -> dict[str, Any]:
        """What the stored bytes depend on besides keys and columns."""
        return {}

    def _fingerprint(self) -> str:
        stored = {
            "join": self.join,
            "keys": [[to_sql(key.left), to_sql(key.right), key.left.type.sql] for key in self.keys],
            "condition": to_sql(self.predicate),
            "columns": [[[f.name, f.type.sql] for f in node.schema] for node in self.inputs],
            **self._stored(),
        }
        return hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16]

    def output(self) -> tuple[job.OutputColumn, ...]:
        """The columns of the output as the job plan has them."""
        return tuple(job.OutputColumn(f.name, f.watermark_ms) for f in self.schema)


def column(field: Field) -> Column:
    """A field as an expression."""
    return Column(field.type, field.nullable, field.name)


def delay_of(node: Node, name: str) -> int:
    """How far the watermark of an event time of `node` lags behind."""
    field = node.schema.get(name)
    assert field is not None
    return field.watermark_ms or 0
