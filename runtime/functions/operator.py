"""A process function on state by bucket."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from compiler.jobplan.operators.process import STATE_VERSION, Process
from runtime.functions.api import ProcessFunction, Row, row_type
from runtime.functions.bundle import Bundle
from runtime.functions.codec import decode_state, encode_state
from runtime.functions.engine import Engine, FunctionFailure, KeyState, Times, drop_old, expires_ms
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks
from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.arrow import tuples
from runtime.spark.buckets.ordering import Numbers, as_compared, group_numbers

KEY, TIME, ROW = "__key_", "__time", "__row"

# Keys of a bucket are kept in so many parts, so that an epoch reads and writes those that its rows need.
_PARTS = 16

Key = tuple[Any, ...]

# Besides the state of a key, when its first timers are due and its first entry is too old: keys that nothing
# happens to are not looked into.
_KEPT = [
    pa.field("state", pa.binary()),
    *(pa.field(name, pa.int64()) for name in ("event_ms", "processing_ms", "expires_ms")),
]
_SUMMARY = pa.schema(
    [
        ("part", pa.int64()),
        ("event_ms", pa.int64()),
        ("processing_ms", pa.int64()),
        ("lives", pa.string()),
    ]
)


@dataclass(slots=True)
class _Emitted:
    """Rows that were given out: keys, how many each has, and the rows in that order."""

    keys: list[Key] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    rows: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, key: Key, rows: Sequence[Mapping[str, Any]]) -> None:
        """Appends those of a key."""
        if rows:
            self.keys.append(key)
            self.counts.append(len(rows))
            self.rows += rows


class _Due(NamedTuple):
    """What is known of a part: when its first timers are due, and the times to live it was written with."""

    event_ms: int | None = None
    processing_ms: int | None = None
    lives: str = ""


class ProcessOperator(BucketOperator):
    """Runs a process function on the keys of a bucket.

    Args:
        op: the operator of the job plan.
        bundle: the project's functions.
        keys: Arrow fields of the key.
        output: the columns of the output: `__key_n`, then those that the function declares.
    """

    def __init__(self, op: Process, bundle: Bundle, keys: pa.Schema, output: pa.Schema) -> None:
        self._op = op
        self._bundle = bundle
        self._keys = keys
        self._output = output

    version = STATE_VERSION

    @property
    def tables(self) -> Sequence[StateTable]:
        """The state of each key, and what is known of each part."""
        return (StateTable("keys", self.kept), StateTable("parts", _SUMMARY))

    @cached_property
    def kept(self) -> pa.Schema:
        """What is kept of a key."""
        return pa.schema([*self._keys, *_KEPT])

    @property
    def late_columns(self) -> Sequence[str | None]:
        """The function decides what a late row is worth."""
        return (None,)

    @cached_property
    def ttl_ms(self) -> dict[str, int]:
        """Times to live of the states that have one."""
        return {state.name: state.ttl_ms for state in self._op.states if state.ttl_ms is not None}

    @cached_property
    def lives(self) -> str:
        """The times to live as text, to see whether a part was written with others."""
        return " ".join(f"{name}:{ttl}" for name, ttl in sorted(self.ttl_ms.items()))

    @cached_property
    def engine(self) -> Engine:
        """The function on one key at a time."""
        made = self._bundle.load(self._op.module, self._op.function)(**dict(self._op.arguments))
        if not isinstance(made, ProcessFunction):
            raise FunctionFailure(f"{self._op.module}.{self._op.function} is no headrace.ProcessFunction")
        return Engine(made, self.ttl_ms, tuple(column.name for column in self._op.output))

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Hands the epoch's rows to the function, each key's in the order of event time."""
        (rows,) = inputs
        if self._op.time_column is not None:
            rows = rows.sort_by(TIME)
        keys, numbers = self._numbered(rows)
        # The rows of a key stay in their order.
        order = np.argsort(numbers, kind="stable")
        rows = rows.take(pa.array(order))
        begins = np.searchsorted(numbers[order], np.arange(len(keys) + 1)).tolist()
        values = self._values(rows.column(ROW).combine_chunks())
        times = _times_of(rows) if self._op.time_column is not None else [None] * rows.num_rows
        of_part: dict[int, list[int]] = {}
        for number, key in enumerate(keys):
            of_part.setdefault(_part(key), []).append(number)
        emitted, parts, clock = _Emitted(), _parts(state), _times(watermarks)
        for part, members in sorted(of_part.items()):
            with _Part(self, state, part, parts, clock) as known:
                for number in members:
                    of_key = slice(begins[number], begins[number + 1])
                    emitted.add(keys[number], known.rows(keys[number], values[of_key], times[of_key]))
        _keep(state, parts)
        return self._table(emitted)

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Calls the timers that are due."""
        emitted, parts, clock = _Emitted(), _parts(state), _times(watermarks)
        for part, due in sorted(parts.items()):
            if (due.event_ms is not None and due.event_ms <= clock.watermark_ms) or (
                due.processing_ms is not None and due.processing_ms <= clock.now_ms
            ):
                with _Part(self, state, part, parts, clock) as known:
                    for key, given in known.timers():
                        emitted.add(key, given)
        _keep(state, parts)
        return self._table(emitted)

    # --- keys and rows --------------------------------------------------------

    def keys_of(self, rows: pa.Table) -> list[Key]:
        """The key of each row."""
        if not any(pa.types.is_floating(f.type) for f in self._keys):
            return tuples(rows, self._keys.names)
        columns = (as_compared(rows.column(name)).to_pylist() for name in self._keys.names)
        # To Python a NaN is equal to nothing but itself.
        return [tuple(math.nan if v != v else v for v in key) for key in zip(*columns, strict=True)]  # noqa: PLR0124

    def _numbered(self, rows: pa.Table) -> tuple[list[Key], Numbers]:
        """The keys that there are, and for each row the number of its key."""
        groups = group_numbers(rows, self._keys.names)
        _, places, numbers = np.unique(groups, return_index=True, return_inverse=True)
        return self.keys_of(rows.take(pa.array(places))), numbers

    def _values(self, rows: pa.StructArray) -> list[Row]:
        """Rows as the function sees them."""
        names = tuple(f.name for f in rows.type)
        made = row_type(names)
        values = zip(*(column.to_pylist() for column in rows.flatten()), strict=True)
        return list(map(made, map(zip, repeat(names), values)))

    def named(self, key: Key) -> Row:
        """The key under the names of its columns."""
        return Row(zip(self._op.key_columns, key, strict=True))

    def store(self, states: Mapping[Key, KeyState]) -> pa.Table:
        """States as they are kept; a key without any is forgotten."""
        ttl_ms = self.ttl_ms
        kept = [
            (
                *key,
                encode_state(state),
                min(state.event_timers) if state.event_timers else None,
                min(state.processing_timers) if state.processing_timers else None,
                expires_ms(state, ttl_ms) if ttl_ms else None,
            )
            for key, state in states.items()
            if not state.is_empty
        ]
        columns = list(zip(*kept, strict=True)) or [()] * len(self.kept)
        arrays = [pa.array(column, f.type) for column, f in zip(columns, self.kept, strict=True)]
        return pa.Table.from_arrays(arrays, schema=self.kept)

    def failure(self, error: Exception) -> FunctionFailure:
        """An error of the user's code, with the name of the function."""
        return FunctionFailure(f"{self._op.uid}: {self._op.function}: {type(error).__name__}: {error}")

    def _table(self, emitted: _Emitted) -> pa.Table | None:
        if not emitted.rows:
            return None
        owners = pa.array(np.repeat(np.arange(len(emitted.keys)), emitted.counts))
        keys = (
            pa.array([key[n] for key in emitted.keys], f.type).take(owners) for n, f in enumerate(self._keys)
        )
        fields = list(self._output)[len(self._keys) :]
        try:
            given = [
                pa.array([row.get(column.name) for row in emitted.rows], f.type)
                for column, f in zip(self._op.output, fields, strict=True)
            ]
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise self.failure(error) from error
        return pa.Table.from_arrays([*keys, *given], schema=self._output)


class _Part:
    """The keys of a part while they are worked on; those that were, are written when it is left.

    Args:
        operator: whose keys they are.
        state: that of the bucket.
        number: which part.
        parts: what is known of the bucket's parts, of which this one's is kept up to date.
        clock: the times of the epoch.
    """

    def __init__(
        self,
        operator: ProcessOperator,
        state: BucketState,
        number: int,
        parts: dict[int, _Due],
        clock: Times,
    ) -> None:
        self._operator = operator
        self._state = state
        self._number = number
        self._parts = parts
        self._clock = clock
        self._held = state.read("keys", number)
        self._stored = dict(
            zip(operator.keys_of(self._held), self._held.column("state").to_pylist(), strict=True)
        )
        self._states: dict[Key, KeyState] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            return
        operator = self._operator
        # With other times to live than it was written with, a part does not say what is too old.
        as_before = self._parts.get(self._number, _Due()).lives == operator.lives
        if not as_before:
            for key in self._stored:
                self._state_of(key)
        if operator.ttl_ms:
            for key in self._keys_until("expires_ms", self._clock.now_ms):
                self._state_of(key)
            for state in self._states.values():
                drop_old(state, operator.ttl_ms, self._clock.now_ms)
        untouched = [key not in self._states for key in self._stored]
        kept = pa.concat_tables(
            [self._held.filter(pa.array(untouched, pa.bool_())), operator.store(self._states)]
        )
        self._state.write("keys", kept, self._number)
        self._parts[self._number] = _Due(
            pc.min(kept.column("event_ms")).as_py(),
            pc.min(kept.column("processing_ms")).as_py(),
            operator.lives if kept.num_rows else "",
        )

    def rows(
        self, key: Key, rows: Sequence[Row], times_ms: Sequence[float | None]
    ) -> Sequence[Mapping[str, Any]]:
        """What the function gives out for the rows of a key with their times."""
        operator = self._operator
        state = self._state_of(key)
        try:
            timed = zip(rows, times_ms, strict=True)
            return operator.engine.rows(operator.named(key), state, timed, self._clock)
        except Exception as error:
            raise operator.failure(error) from error

    def timers(self) -> Iterator[tuple[Key, Sequence[Mapping[str, Any]]]]:
        """What the timers that are due give out, key by key in an order that does not depend on the past."""
        event = self._keys_until("event_ms", self._clock.watermark_ms)
        processing = self._keys_until("processing_ms", self._clock.now_ms)
        operator = self._operator
        for key in sorted({*event, *processing}, key=repr):
            state = self._state_of(key)
            try:
                yield key, list(operator.engine.timers(operator.named(key), state, self._clock))
            except Exception as error:
                raise operator.failure(error) from error

    def _state_of(self, key: Key) -> KeyState:
        state = self._states.get(key)
        if state is None:
            stored = self._stored.get(key)
            state = self._states[key] = KeyState() if stored is None else decode_state(stored)
        return state

    def _keys_until(self, column: str, time_ms: int) -> list[Key]:
        """The keys whose time of something has come."""
        return self._operator.keys_of(self._held.filter(pc.less_equal(self._held.column(column), time_ms)))


def _parts(state: BucketState) -> dict[int, _Due]:
    """What is known of the parts that have timers or times to live."""
    return {row.pop("part"): _Due(**row) for row in state.read("parts").to_pylist()}


def _keep(state: BucketState, parts: Mapping[int, _Due]) -> None:
    """Writes what is known of the parts, and sets when the first timer is due."""
    rows = [{"part": part, **due._asdict()} for part, due in sorted(parts.items()) if due != _Due()]
    if rows != state.read("parts").to_pylist():
        state.write("parts", pa.Table.from_pylist(rows, schema=_SUMMARY))
    # A timer of processing time is looked at whenever the bucket is called.
    if any(due.processing_ms is not None for due in parts.values()):
        state.wake_ms = 0
    else:
        events = (due.event_ms for due in parts.values() if due.event_ms is not None)
        state.wake_ms = min(events, default=None)


def _times(watermarks: Watermarks) -> Times:
    return Times(watermarks.current_ms, watermarks.processing_ms)


def _times_of(rows: pa.Table) -> list[float | None]:
    """Event times in milliseconds."""
    found: list[float | None] = pc.divide(
        rows.column(TIME).cast(pa.int64()).cast(pa.float64()), 1000.0
    ).to_pylist()
    return found


def _part(key: Key) -> int:
    # Python's own hash of a text differs from process to process.
    return zlib.crc32(repr(key).encode()) % _PARTS
