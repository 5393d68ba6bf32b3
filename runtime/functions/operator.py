"""A process function on state by bucket."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from compiler.jobplan.operators.process import Process
from runtime.functions.api import ProcessFunction, Row, row_type
from runtime.functions.bundle import Bundle
from runtime.functions.codec import decode_state, encode_state
from runtime.functions.engine import Engine, FunctionFailure, KeyState, Times, drop_old, expires_ms
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks
from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.arrow import tuples
from runtime.spark.buckets.ordering import Numbers, group_numbers

KEY, TIME, ROW = "__key_", "__time", "__row"

# Keys of a bucket are kept in so many parts, so that an epoch reads and writes those that its rows need.
_PARTS = 16

Key = tuple[Any, ...]
_Emitted = list[tuple[Key, Mapping[str, Any]]]

# Besides the state of a key, when its first timers are due and its first entry is too old: keys that nothing
# happens to are not looked into.
_KEPT = [
    pa.field("state", pa.binary()),
    *(pa.field(name, pa.int64()) for name in ("event_ms", "processing_ms", "expires_ms")),
]
_SUMMARY = pa.schema([("part", pa.int64()), ("event_ms", pa.int64()), ("processing_ms", pa.int64())])


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

    version = 2

    @property
    def tables(self) -> Sequence[StateTable]:
        """The state of each key, and for each part when its first timer is due."""
        return (StateTable("keys", self.kept), StateTable("timers", _SUMMARY))

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
        key_of = [keys[number] for number in numbers.tolist()]
        part_of = np.array([_part(key) for key in keys], np.int64)[numbers]
        # A part's rows stay in their order.
        order = np.argsort(part_of, kind="stable")
        parts, begins = np.unique(part_of[order], return_index=True)
        values = self._values(rows.column(ROW).combine_chunks())
        times = _times_of(rows) if self._op.time_column is not None else [None] * rows.num_rows
        clock = _times(watermarks)
        emitted: _Emitted = []
        for part, places in zip(parts.tolist(), np.split(order, begins[1:]), strict=True):
            with _Part(self, state, part, clock) as known:
                rows_of_part = ((key_of[at], values[at], times[at]) for at in places.tolist())
                emitted += known.rows(rows_of_part)
        return self._table(emitted)

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Calls the timers that are due."""
        clock = _times(watermarks)
        emitted: _Emitted = []
        for part, (event, processing) in sorted(_summary(state).items()):
            if (event is not None and event <= clock.watermark_ms) or (
                processing is not None and processing <= clock.now_ms
            ):
                with _Part(self, state, part, clock) as known:
                    emitted += known.timers()
        _wake(state, _summary(state))
        return self._table(emitted)

    # --- keys and rows --------------------------------------------------------

    def keys_of(self, rows: pa.Table) -> list[Key]:
        """The key of each row."""
        return tuples(rows, self._keys.names)

    def _numbered(self, rows: pa.Table) -> tuple[list[Key], Numbers]:
        """The keys that there are, and for each row the number of its key."""
        groups = group_numbers(rows, self._keys.names)
        _, places, numbers = np.unique(groups, return_index=True, return_inverse=True)
        return self.keys_of(rows.take(pa.array(places))), numbers

    def _values(self, rows: pa.StructArray) -> list[Row]:
        """Rows as the function sees them."""
        names = [field.name for field in rows.type]
        made = row_type(names)
        columns = (column.to_pylist() for column in rows.flatten())
        return [made(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]

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
        if not emitted:
            return None
        columns: list[list[Any]] = [
            *([key[n] for key, _ in emitted] for n in range(len(self._keys))),
            *([row.get(column.name) for _, row in emitted] for column in self._op.output),
        ]
        try:
            arrays = [pa.array(c, f.type) for c, f in zip(columns, self._output, strict=True)]
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise self.failure(error) from error
        return pa.Table.from_arrays(arrays, schema=self._output)


class _Part:
    """The keys of a part while they are worked on; those that were, are written when it is left."""

    def __init__(self, operator: ProcessOperator, state: BucketState, number: int, clock: Times) -> None:
        self._operator = operator
        self._state = state
        self._number = number
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
        for key in self._keys_until("expires_ms", self._clock.now_ms):
            self._state_of(key)
        if operator.ttl_ms:
            for state in self._states.values():
                drop_old(state, operator.ttl_ms, self._clock.now_ms)
        untouched = [key not in self._states for key in self._stored]
        kept = pa.concat_tables(
            [self._held.filter(pa.array(untouched, pa.bool_())), operator.store(self._states)]
        )
        self._state.write("keys", kept, self._number)
        summary = _summary(self._state)
        summary[self._number] = tuple(
            pc.min(kept.column(f"{clock}_ms")).as_py() for clock in ("event", "processing")
        )
        rows = [{"part": n, "event_ms": e, "processing_ms": p} for n, (e, p) in sorted(summary.items())]
        pending = [row for row in rows if row["event_ms"] is not None or row["processing_ms"] is not None]
        self._state.write("timers", pa.Table.from_pylist(pending, schema=_SUMMARY))
        _wake(self._state, summary)

    def rows(self, rows: Iterable[tuple[Key, Row, float | None]]) -> _Emitted:
        """What the function gives out for rows with their keys and times."""
        emitted: _Emitted = []
        known: dict[Key, tuple[Row, KeyState]] = {}
        call, clock = self._operator.engine.row, self._clock
        try:
            for key, row, time_ms in rows:
                at = known.get(key)
                if at is None:
                    at = known[key] = (self._operator.named(key), self._state_of(key))
                for given in call(*at, row, time_ms, clock):
                    emitted.append((key, given))  # most give one row or none
        except Exception as error:
            raise self._operator.failure(error) from error
        return emitted

    def timers(self) -> _Emitted:
        """What the timers that are due give out, key by key in an order that does not depend on the past."""
        event = self._keys_until("event_ms", self._clock.watermark_ms)
        processing = self._keys_until("processing_ms", self._clock.now_ms)
        operator = self._operator
        try:
            return [
                (key, given)
                for key in sorted({*event, *processing}, key=repr)
                for given in operator.engine.timers(operator.named(key), self._state_of(key), self._clock)
            ]
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


def _summary(state: BucketState) -> dict[int, tuple[int | None, int | None]]:
    """For each part with timers, when the first is due on either clock."""
    rows = state.read("timers").to_pylist()
    return {row["part"]: (row["event_ms"], row["processing_ms"]) for row in rows}


def _wake(state: BucketState, summary: Mapping[int, tuple[int | None, int | None]]) -> None:
    # A timer of processing time is looked at whenever the bucket is called.
    if any(processing is not None for _, processing in summary.values()):
        state.wake_ms = 0
    else:
        state.wake_ms = _first(event for event, _ in summary.values() if event is not None)


def _first(values: Iterable[int]) -> int | None:
    return min(values, default=None)


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
