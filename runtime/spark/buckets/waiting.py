"""Rows that wait for the watermark to pass their time, in slices by that time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from runtime.spark.buckets.ordering import Numbers, microseconds
from runtime.spark.buckets.state import BucketState

SLICE_MS = 60_000
"""How much time a slice covers: an epoch rewrites the slices that its rows and its watermark fall into."""


def by_slice(rows: pa.Table, time: str) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each slice that they fall into, in their order, with its number."""
    numbers = microseconds(rows.column(time)) // (SLICE_MS * 1000)
    distinct = np.unique(numbers)
    for number in distinct.tolist():
        yield number, rows if len(distinct) == 1 else rows.filter(pa.array(numbers == number))


def take_due(state: BucketState, table: str, time: str, watermark_ms: int) -> list[pa.Table]:
    """Takes the rows at or before the watermark out of the state, slice by slice, oldest first.

    Sets when the next are due.
    """
    due: list[pa.Table] = []
    state.wake_ms = None
    for number in state.slices(table):
        if number * SLICE_MS > watermark_ms:
            # Slices are in order; this one is looked into when the watermark is there.
            state.wake_by(number * SLICE_MS)
            break
        rows = state.read(table, number)
        times = microseconds(rows.column(time))
        passed = times <= watermark_ms * 1000
        if passed.any():
            due.append(rows if passed.all() else rows.filter(pa.array(passed)))
            rest = rows.slice(0, 0) if passed.all() else rows.filter(pa.array(~passed))
            state.write(table, rest, number)
        if not passed.all():
            state.wake_by(first_ms(times[~passed]))
            break
    return due


def first_ms(times: Numbers) -> int:
    """The watermark that is the first to have passed one of the times, which are microseconds."""
    return int(-(-times.min() // 1000))
