"""The state of one bucket: named tables in slices, read when asked for and written if changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

Slice = tuple[str, int]
"""A table's name and the number of one of its slices."""

FORMAT = 1
"""Version of how a bucket is laid out in the store: a head in JSON, slices as Arrow streams."""

# A byte of state is copied a dozen times on its way to the store and back; LZ4 costs less than a few of them.
# Columns are small: to hand each to a pool of threads takes several times what it takes to unpack it.
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_READ = pa.ipc.IpcReadOptions(use_threads=False)
_WORTH_IT = 16_384


@dataclass(frozen=True, slots=True)
class StateTable:
    """A table that an operator keeps.

    Args:
        name: its name.
        schema: its columns.
        former: names of columns that earlier versions of the operator had besides; they are not read.
    """

    name: str
    schema: pa.Schema
    former: frozenset[str] = frozenset()


class StateError(Exception):
    """The state in the store is not what this operator wrote."""


class Store(Protocol):
    """Where the bytes of one bucket are."""

    def head(self) -> bytes | None:
        """The bucket's head, if there is one."""
        ...

    def set_head(self, data: bytes) -> None:
        """Replaces the head."""
        ...

    def slice(self, of: Slice) -> bytes:
        """The bytes of a slice that is there."""
        ...

    def set_slice(self, of: Slice, data: bytes | None) -> None:
        """Replaces a slice, or removes it."""
        ...

    def move_timer(self, old_ms: int | None, new_ms: int) -> None:
        """Has the bucket called once the watermark reaches `new_ms`, and no longer for `old_ms`."""
        ...


@dataclass(slots=True)
class Head:
    """What is known of a bucket without reading its slices.

    Args:
        version: the operator's.
        watermark_ms: that of the last epoch in which the bucket was called, which is the last in which it
            moved.
        timer_ms: the timer that is set.
        wake_ms: the watermark at which `expire` is due.
        slices: numbers of each table's slices.
    """

    version: int
    watermark_ms: int = 0
    timer_ms: int | None = None
    wake_ms: int | None = None
    slices: dict[str, list[int]] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """As the store keeps it."""
        values = {
            "format": FORMAT,
            "version": self.version,
            "watermark_ms": self.watermark_ms,
            "timer_ms": self.timer_ms,
            "wake_ms": self.wake_ms,
            "slices": {name: numbers for name, numbers in sorted(self.slices.items()) if numbers},
        }
        return json.dumps(values, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes, version: int, readable: Collection[int] = ()) -> Head:
        """Reads it back, as one of `version`.

        Raises:
            StateError: another version wrote it, which is not among the `readable` ones.
        """
        values = json.loads(data)
        format_, written = values.pop("format"), values.pop("version")
        if format_ != FORMAT or (written != version and written not in readable):
            raise StateError(f"state of version {written} cannot be read by version {version}")
        return cls(version, **values)


class BucketState:
    """The tables of a bucket during one epoch."""

    def __init__(self, store: Store, head: Head, tables: Sequence[StateTable]) -> None:
        self._store = store
        self._head = head
        self._tables: Mapping[str, StateTable] = {table.name: table for table in tables}
        self._read: dict[Slice, pa.Table] = {}
        self._changed: set[Slice] = set()
        self._stored = {(name, number) for name, numbers in head.slices.items() for number in numbers}

    @property
    def wake_ms(self) -> int | None:
        """The watermark, in milliseconds, at which `expire` is called next; None for never."""
        return self._head.wake_ms

    @wake_ms.setter
    def wake_ms(self, value: int | None) -> None:
        self._head.wake_ms = value

    def wake_by(self, time_ms: int) -> None:
        """Has `expire` called at `time_ms` at the latest."""
        known = self._head.wake_ms
        self._head.wake_ms = time_ms if known is None else min(known, time_ms)

    def slices(self, table: str) -> list[int]:
        """Numbers of the slices that have rows, ascending."""
        return list(self._head.slices.get(table, ()))

    def read(self, table: str, number: int = 0) -> pa.Table:
        """A slice's rows; none if there is no such slice."""
        key = (table, number)
        found = self._read.get(key)
        if found is None:
            schema = self._tables[table].schema
            if number in self._head.slices.get(table, ()):
                found = pa.ipc.open_stream(self._store.slice(key), options=_READ).read_all()
                former = self._tables[table].former.difference(schema.names).intersection(found.column_names)
                if former:
                    found = found.drop_columns(list(former))
                if found.schema != schema:
                    raise StateError(f"slice {number} of `{table}` has columns {found.schema}, not {schema}")
            else:
                found = schema.empty_table()
            self._read[key] = found
        return found

    def write(self, table: str, rows: pa.Table, number: int = 0) -> None:
        """Replaces a slice's rows; a slice without rows is removed.

        Raises:
            StateError: the columns are not those of the table.
        """
        schema = self._tables[table].schema
        if rows.schema != schema:
            if rows.schema.names != schema.names:
                raise StateError(f"`{table}` has columns {schema.names}, not {rows.schema.names}")
            rows = rows.cast(schema)
        self._read[table, number] = rows
        self._changed.add((table, number))
        numbers = self._head.slices.setdefault(table, [])
        if rows.num_rows and number not in numbers:
            numbers.append(number)
            numbers.sort()
        elif not rows.num_rows and number in numbers:
            numbers.remove(number)

    def flush(self) -> None:
        """Writes what was changed to the store, all but the head."""
        for key in sorted(self._changed):
            rows = self._read[key]
            if rows.num_rows:
                self._store.set_slice(key, to_bytes(rows, compressed=True))
                self._stored.add(key)
            elif key in self._stored:
                self._store.set_slice(key, None)
                self._stored.remove(key)
        self._changed.clear()


def to_bytes(rows: pa.Table, compressed: bool = False) -> bytes:
    """A table as an Arrow stream of one batch, which says itself whether it is compressed."""
    sink = pa.BufferOutputStream()
    options = _COMPRESSED if compressed and rows.nbytes >= _WORTH_IT else None
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_table(rows.combine_chunks())
    data: bytes = sink.getvalue().to_pybytes()
    return data
