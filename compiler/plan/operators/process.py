"""A process function."""

from __future__ import annotations

import hashlib
import json
from dataclasses import field
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.operators.base import OptionValue
from compiler.jobplan.operators.process import STATE_VERSION, KeptState
from compiler.plan.expr import Expr
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators._one_input import KeyedState
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field, Schema
from compiler.plan.types import DataType

# As many as a match has, see there.
_BUCKETS = 16


@frozen
class Process(KeyedState):
    """Hands the rows of each key to a Python class and gives the rows that it gives out.

    Args:
        module, function: the class, as it is imported.
        arguments: of its constructor, by name.
        keys: columns of the input; they come first in the output.
        reads: the columns that a row has in Python.
        output: the columns that the class declares; `event_time` is one of them, or None.
        states: what it keeps for each key.
        bundle: the hash of the files under functions/.
    """

    kind: ClassVar[str] = "process"

    module: str
    function: str
    keys: tuple[str, ...]
    reads: tuple[NamedExpr, ...]
    output: tuple[tuple[str, DataType], ...]
    event_time: str | None
    states: tuple[KeptState, ...]
    bundle: str
    arguments: tuple[tuple[str, OptionValue | None], ...] = field(default=())

    @property
    def _time(self) -> Field | None:
        return next((f for f in self.input.schema if f.is_event_time), None)

    def _derive_schema(self) -> Schema:
        keys = [found for name in self.keys if (found := self.input.schema.get(name)) is not None]
        delay = self._time.watermark_ms if self._time is not None else None
        given = [
            Field(name, type_, True, delay if name == self.event_time else None)
            for name, type_ in self.output
        ]
        return Schema((*(Field(key.name, key.type, key.nullable) for key in keys), *given))

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(item.expr for item in self.reads)

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        lives = [state for state in self.states if state.ttl_ms is None]
        bound = "as its timers and its code decide"
        if lives:
            bound += f"; without a ttl: {', '.join(state.name for state in lives)}"
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=self.keys,
            fingerprint=self._fingerprint(),
            bound=bound,
        )

    def _fingerprint(self) -> str:
        # Not the code: it may be mended, and goes on with the state that it finds.
        stored = {
            "keys": [[f.name, f.type.sql] for f in self.schema.fields[: len(self.keys)]],
            "states": [[s.name, s.kind, s.type] for s in self.states],
            "buckets": _BUCKETS,
            "version": STATE_VERSION,
        }
        return hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16]

    @property
    def stored_columns(self) -> tuple[str, ...]:
        return tuple(state.name for state in self.states)

    def describe(self) -> str:
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        return f"{self.module}.{self.function}{by}: {', '.join(name for name, _ in self.output)}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        time = self._time
        return job.Process(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            module=self.module,
            function=self.function,
            arguments=dict(self.arguments),
            key_columns=self.keys,
            time_column=time.name if time is not None else None,
            reads=tuple(job.Item(item.name, to_sql(item.expr)) for item in self.reads),
            output=tuple(job.Column(name, type_.sql) for name, type_ in self.output),
            states=self.states,
            event_time=self.event_time,
            delay_ms=time.watermark_ms if time is not None else None,
            bundle=self.bundle,
            buckets=_BUCKETS if self.keys else 1,
        )
