"""The processor that Spark calls for each bucket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from runtime.spark.buckets.epoch import run_epoch
from runtime.spark.buckets.operator import BucketOperator
from runtime.spark.buckets.packing import INPUT, ROWS, TASK, from_bytes
from runtime.spark.buckets.state import Slice, to_bytes

_BYTES = StructType([StructField("data", BinaryType())])
_SLICE = StructType([StructField("table", StringType()), StructField("slice", LongType())])


class SparkStore:
    """A bucket's bytes in Spark's state store. Each call is a round trip to the JVM."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._head = handle.getValueState("head", _BYTES)
        self._slices = handle.getMapState("slices", _SLICE, _BYTES)

    def head(self) -> bytes | None:
        """The bucket's head, if there is one."""
        found = self._head.get()
        return None if found is None else bytes(found[0])

    def set_head(self, data: bytes) -> None:
        """Replaces the head."""
        self._head.update((data,))

    def slice(self, of: Slice) -> bytes:
        """The bytes of a slice that is there."""
        found = self._slices.getValue(of)
        assert found is not None
        return bytes(found[0])

    def set_slice(self, of: Slice, data: bytes | None) -> None:
        """Replaces a slice, or removes it."""
        if data is None:
            self._slices.removeKey(of)
        else:
            self._slices.updateValue(of, (data,))

    def move_timer(self, old_ms: int | None, new_ms: int) -> None:
        """Sets the bucket's only timer."""
        if old_ms is not None:
            self._handle.deleteTimer(old_ms)
        self._handle.registerTimer(new_ms)


class BucketProcessor(StatefulProcessor):
    """Runs a bucket operator under transformWithState.

    Args:
        operator: the operator.
        schemas: Arrow schemas of its inputs.
    """

    def __init__(self, operator: BucketOperator, schemas: Sequence[pa.Schema]) -> None:
        self._operator = operator
        self._schemas = tuple(schemas)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Spark's call before the first bucket of a task, and once on the driver."""
        self._store = SparkStore(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803  # Spark's names
        """Spark's call for a bucket that has rows."""
        parts: list[list[pa.Table]] = [[] for _ in self._schemas]
        # The order of arrival is that of the tasks, which a replay has too, and not that of the shuffle.
        for row in sorted((row for row in rows if row[ROWS] is not None), key=lambda row: row[TASK]):
            parts[row[INPUT]].append(from_bytes(row[ROWS]))
        inputs = [
            pa.concat_tables(found).cast(schema) if found else schema.empty_table()
            for found, schema in zip(parts, self._schemas, strict=True)
        ]
        yield from self._run(inputs, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803  # Spark's names
        """Spark's call for a bucket whose timer the watermark has passed."""
        yield from self._run(None, timerValues)

    def close(self) -> None:
        """Spark's call after the last bucket of a task."""

    def _run(self, inputs: Sequence[pa.Table] | None, times: Any) -> Iterator[Row]:
        watermark, now = times.getCurrentWatermarkInMs(), times.getCurrentProcessingTimeInMs()
        for table in run_epoch(self._operator, self._store, inputs, watermark, now):
            yield Row(**{ROWS: to_bytes(table)})
