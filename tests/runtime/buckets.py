"""Drives a bucket operator epoch by epoch without Spark, as Spark would."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from runtime.spark.buckets import BucketOperator, Slice
from runtime.spark.buckets.epoch import run_epoch

MOMENT = pa.timestamp("us", "UTC")


@dataclass
class MemoryStore:
    """A bucket's bytes in a dict; counts what a real store would have to do."""

    stored_head: bytes | None = None
    stored: dict[Slice, bytes] = field(default_factory=dict)
    timers: set[int] = field(default_factory=set)
    written: list[Slice] = field(default_factory=list)

    def head(self) -> bytes | None:
        return self.stored_head

    def set_head(self, data: bytes) -> None:
        self.stored_head = data

    def slice(self, of: Slice) -> bytes:
        return self.stored[of]

    def set_slice(self, of: Slice, data: bytes | None) -> None:
        self.written.append(of)
        if data is None:
            del self.stored[of]
        else:
            self.stored[of] = data

    def move_timer(self, old_ms: int | None, new_ms: int) -> None:
        if old_ms is not None:
            self.timers.remove(old_ms)
        self.timers.add(new_ms)


@dataclass
class BucketDriver:
    """A query of one bucket operator: the watermark follows the rows, one epoch behind.

    The operator is made anew for each epoch, as for each task.

    Args:
        make: makes the operator.
        buckets: how many there are.
        bucket_of: where a row belongs; by default all rows are in bucket 0.
    """

    make: Callable[[], BucketOperator]
    buckets: int = 1
    bucket_of: Callable[[dict[str, Any]], int] = lambda _row: 0
    stores: dict[int, MemoryStore] = field(default_factory=dict)
    watermark_ms: int = 0
    processing_ms: int = 0

    def epoch(self, *inputs: pa.Table, watermark_ms: int | None = None) -> list[dict[str, Any]]:
        """Runs an epoch and gives the rows that came out.

        Args:
            inputs: one table an input; none for an epoch without data, in which only timers call.
            watermark_ms: what the watermark has moved to since the last epoch.
        """
        self.watermark_ms = max(self.watermark_ms, watermark_ms or 0)
        operator = self.make()
        emitted: list[pa.Table] = []
        if inputs:
            for bucket, tables in self._distributed(inputs).items():
                store = self.stores.setdefault(bucket, MemoryStore())
                emitted += run_epoch(operator, store, tables, self.watermark_ms, self.processing_ms)
        for store in self.stores.values():
            for timer in sorted(t for t in store.timers if t <= self.watermark_ms):
                emitted += run_epoch(operator, store, None, self.watermark_ms, self.processing_ms)
                store.timers.discard(timer)
        return [row for table in emitted for row in table.to_pylist()]

    def _distributed(self, inputs: Sequence[pa.Table]) -> dict[int, list[pa.Table]]:
        found: dict[int, list[pa.Table]] = {}
        for bucket in range(self.buckets):
            found[bucket] = [
                table.filter(
                    pa.array([self.bucket_of(row) == bucket for row in table.to_pylist()], pa.bool_())
                )
                for table in inputs
            ]
        return found


def table(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.Table:
    """A table of rows as tuples; a whole number in a column of times is a number of milliseconds."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [
            pa.array([v * 1000 if v is not None else None for v in column], pa.int64()).cast(f.type)
            if f.type == MOMENT
            else pa.array(column, f.type)
            for column, f in zip(columns, schema, strict=True)
        ],
        schema=schema,
    )


def ms(moment: datetime) -> int:
    """A time as milliseconds."""
    return round(moment.timestamp() * 1000)
