"""A process function on state by bucket."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import pyarrow as pa

from compiler.jobplan.operators.process import Process
from runtime.functions.api import ProcessFunction, Row
from runtime.functions.bundle import Bundle
from runtime.functions.codec import decode, encode
from runtime.functions.engine import Engine, FunctionFailure, KeyState, Times, drop_old
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks

KEY, TIME, ROW = "__key_", "__time", "__row"

# Keys of a bucket are kept in so many parts, so that an epoch reads and writes those that its rows need.
_PARTS = 16

Key = tuple[Any, ...]
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

    @property
    def tables(self) -> Sequence[StateTable]:
        """The state of each key, and for each part when its first timer is due."""
        keyed = pa.schema([*self._keys, pa.field("state", pa.binary())])
        return (StateTable("keys", keyed), StateTable("timers", _SUMMARY))

    @property
    def late_columns(self) -> Sequence[str | None]:
        """The function decides what a late row is worth."""
        return (None,)

    @cached_property
    def _ttl_ms(self) -> dict[str, int]:
        return {state.name: state.ttl_ms for state in self._op.states if state.ttl_ms is not None}

    @cached_property
    def engine(self) -> Engine:
        """The function on one key at a time."""
        made = self._bundle.load(self._op.module, self._op.function)(**dict(self._op.arguments))
        if not isinstance(made, ProcessFunction):
            raise FunctionFailure(f"{self._op.module}.{self._op.function} is no headrace.ProcessFunction")
        return Engine(made, self._ttl_ms, tuple(column.name for column in self._op.output))

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Hands the epoch's rows to the function, each key's in the order of event time."""
        (rows,) = inputs
        if self._op.time_column is not None:
            rows = rows.sort_by(TIME)
        parts: dict[int, list[int]] = {}
        keys = self._keys_of(rows)
        for at, key in enumerate(keys):
            parts.setdefault(_part(key), []).append(at)
        values = rows.column(ROW).to_pylist()
        times = rows.column(TIME).cast(pa.int64()).to_pylist() if self._op.time_column is not None else None
        clock = _times(watermarks)
        emitted: list[tuple[Key, Mapping[str, Any]]] = []
        for part, places in sorted(parts.items()):
            with _Part(self, state, part, clock) as known:
                for at in places:
                    time = times[at] / 1000 if times is not None and times[at] is not None else None
                    emitted += known.row(keys[at], Row(values[at]), time)
        return self._table(emitted)

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Calls the timers that are due."""
        clock = _times(watermarks)
        emitted: list[tuple[Key, Mapping[str, Any]]] = []
        for part, (event, processing) in sorted(_summary(state).items()):
            is_due = (event is not None and event <= clock.watermark_ms) or (
                processing is not None and processing <= clock.now_ms
            )
            if is_due:
                with _Part(self, state, part, clock) as known:
                    for key in sorted(known.states, key=repr):
                        emitted += known.timers(key)
        _wake(state, _summary(state))
        return self._table(emitted)

    # --- keys -----------------------------------------------------------------

    def _keys_of(self, rows: pa.Table) -> list[Key]:
        columns = [rows.column(name).to_pylist() for name in self._keys.names]
        return list(zip(*columns, strict=True)) if columns else [()] * rows.num_rows

    def named(self, key: Key) -> Row:
        """The key under the names of its columns."""
        return Row(zip(self._op.key_columns, key, strict=True))

    def load(self, table: pa.Table) -> dict[Key, KeyState]:
        """The states of a part."""
        stored = table.column("state").to_pylist()
        return {key: _key_state(decode(data)) for key, data in zip(self._keys_of(table), stored, strict=True)}

    def store(self, states: Mapping[Key, KeyState], now_ms: int) -> pa.Table:
        """A part's states as they are kept; a key without any is forgotten."""
        kept: list[tuple[Any, ...]] = []
        for key, state in states.items():
            drop_old(state, self._ttl_ms, now_ms)
            if not state.is_empty:
                data = [state.entries, _timers(state.event_timers), _timers(state.processing_timers)]
                kept.append((*key, encode(data)))
        schema = pa.schema([*self._keys, pa.field("state", pa.binary())])
        columns = list(zip(*kept, strict=True)) or [()] * len(schema)
        arrays = [pa.array(column, f.type) for column, f in zip(columns, schema, strict=True)]
        return pa.Table.from_arrays(arrays, schema=schema)

    def failure(self, error: Exception) -> FunctionFailure:
        """An error of the user's code, with the name of the function."""
        return FunctionFailure(f"{self._op.uid}: {self._op.function}: {type(error).__name__}: {error}")

    def _table(self, emitted: Sequence[tuple[Key, Mapping[str, Any]]]) -> pa.Table | None:
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
    """The keys of a part while they are worked on; they are written when it is left."""

    def __init__(self, operator: ProcessOperator, state: BucketState, number: int, clock: Times) -> None:
        self._operator = operator
        self._state = state
        self._number = number
        self._clock = clock
        self.states = operator.load(state.read("keys", number))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            return
        self._state.write("keys", self._operator.store(self.states, self._clock.now_ms), self._number)
        summary = _summary(self._state)
        summary[self._number] = (
            _first(timer for state in self.states.values() for timer in state.event_timers),
            _first(timer for state in self.states.values() for timer in state.processing_timers),
        )
        rows = [{"part": n, "event_ms": e, "processing_ms": p} for n, (e, p) in sorted(summary.items())]
        pending = [row for row in rows if row["event_ms"] is not None or row["processing_ms"] is not None]
        self._state.write("timers", pa.Table.from_pylist(pending, schema=_SUMMARY))
        _wake(self._state, summary)

    def row(self, key: Key, row: Row, time_ms: float | None) -> list[tuple[Key, Mapping[str, Any]]]:
        """The rows that the function gives out for a row."""
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = KeyState()
        operator = self._operator
        try:
            given = operator.engine.row(operator.named(key), state, row, time_ms, self._clock)
        except Exception as error:
            raise operator.failure(error) from error
        return [(key, out) for out in given]

    def timers(self, key: Key) -> list[tuple[Key, Mapping[str, Any]]]:
        """The rows that the timers of a key that are due give out."""
        operator = self._operator
        try:
            given = list(operator.engine.timers(operator.named(key), self.states[key], self._clock))
        except Exception as error:
            raise operator.failure(error) from error
        return [(key, out) for out in given]


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


def _key_state(stored: list[Any]) -> KeyState:
    entries, event, processing = stored
    # Entries are pairs, which come back as what they went in as: tuples.
    return KeyState(entries, set(event), set(processing))


def _timers(timers: set[int]) -> list[int]:
    return sorted(timers)


def _part(key: Key) -> int:
    # Python's own hash of a text differs from process to process.
    return zlib.crc32(repr(key).encode()) % _PARTS
