"""A stream of row numbers: the offsets of `datagen`, kept by Spark like those of any source.

This module is sent to Spark's Python workers by value, so it imports nothing of headrace.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

NAME = "headrace_row_numbers"
COLUMN = "row_number"
_CHUNK = 65_536


class Range(InputPartition):
    """Row numbers from `first` to before `end`."""

    def __init__(self, first: int, end: int) -> None:
        self.first = first
        self.end = end


class RowNumbers(DataSource):
    """Counts from 0.

    Options: rows_per_second; number_of_rows (-1: no end); max_rows_per_epoch (0: no limit); partitions.
    """

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return NAME

    def schema(self) -> str:
        """One column."""
        return f"{COLUMN} BIGINT"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  # Spark's name
        """The reader, which lives as long as the query runs."""
        return RowNumberReader({key: int(value) for key, value in self.options.items()})


class RowNumberReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Lets rows become due: at a rate while it runs, or all at once under available_now.

    Time decides only how far an epoch goes, never what is in a row; and how far it went is in Spark's
    offset log before a row is made.
    """

    def __init__(self, options: dict[str, int]) -> None:
        self._rate = options["rows_per_second"]
        self._rows = options["number_of_rows"]
        self._most = options["max_rows_per_epoch"]
        self._partitions = options["partitions"]
        self._since: tuple[int, float] | None = None
        self._available_now = False
        self._target: int | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  # Spark's name
        """Row 0."""
        return {"row": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # Spark's name
        """From now on all rows are due."""
        self._available_now = True

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # Spark's name
        """What one epoch may take."""
        return ReadMaxRows(self._most) if self._most else ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802  # Spark's name
        """The row before which the next epoch ends."""
        first = int(start["row"])
        end = self._due(first)
        if isinstance(limit, ReadMaxRows):
            end = min(end, first + limit.max_rows)
        return {"row": max(first, end)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Range]:
        """The epoch's rows, cut evenly."""
        first, last = int(start["row"]), int(end["row"])
        cuts = [first + (last - first) * i // self._partitions for i in range(self._partitions + 1)]
        return [Range(a, b) for a, b in pairwise(cuts) if a < b]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The numbers, in Arrow batches."""
        assert isinstance(partition, Range)
        for first in range(partition.first, partition.end, _CHUNK):
            numbers = pa.array(np.arange(first, min(first + _CHUNK, partition.end)))
            yield pa.RecordBatch.from_arrays([numbers], names=[COLUMN])

    def _due(self, first: int) -> int:
        if self._available_now:
            # Without an end, a run makes what one second would have.
            if self._target is None:
                self._target = first + self._rate if self._rows < 0 else self._rows
            return self._target
        if self._since is None:
            # The first rows are due at once, so that a fresh query has something to show.
            self._since = (first + self._rate, time.monotonic())
        due = self._since[0] + int((time.monotonic() - self._since[1]) * self._rate)
        return due if self._rows < 0 else min(due, self._rows)
