"""A Python process function: rows to rows, with state and timers for each key."""

from __future__ import annotations

from msgspec import Struct

from compiler.jobplan.operators.base import Column, Item, JobOperator, OptionValue

STATE_VERSION = 4
"""Of how the runtime lays out what it keeps of each key: a plan does not go on with the state of another."""


class KeptState(Struct, frozen=True):
    """A state of a process function: `type` is SQL; an entry lives for `ttl_ms` after it was written."""

    name: str
    kind: str
    type: str
    ttl_ms: int | None = None


class Process(JobOperator, frozen=True, tag="process"):
    """Calls class `function` of `module`, a file under functions/, with the rows of each key.

    `reads` are the columns of a row, computed from the input, `output` those that it gives besides the key's.
    `event_time` names the one that is an event time, `delay_ms` behind. `bundle` is the hash of the files
    under functions/.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    module: str
    function: str
    arguments: dict[str, OptionValue | None]
    key_columns: tuple[str, ...]
    time_column: str | None
    reads: tuple[Item, ...]
    output: tuple[Column, ...]
    states: tuple[KeptState, ...]
    event_time: str | None
    delay_ms: int | None
    bundle: str
    buckets: int

    def describe(self) -> str:
        given = ", ".join(f"{name} => {value}" for name, value in self.arguments.items())
        columns = ", ".join(column.name for column in self.output)
        return f"{self.module}.{self.function}({given}) AS ({columns})"

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(self.key_columns)})"
