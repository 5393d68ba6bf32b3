"""A table that mostly grows, in segments: an epoch writes what it adds, and older segments are merged.

A segment is a slice of the table; the one with the greatest number is the newest. When as many segments as
`FAN` are no larger than the newest of them, they become one (size-tiered compaction, as in Bigtable and
Cassandra): a row is written again each time that there are `FAN` times as many, and not in each epoch.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from runtime.spark.buckets.state import BucketState

FAN = 4
"""How many segments of a size become one."""

_SMALL = 1024
"""Segments of fewer rows count as of one size."""


def read_all(state: BucketState, table: str) -> pa.Table:
    """The rows of all segments, the oldest first."""
    numbers = state.slices(table)
    if len(numbers) < 2:
        return state.read(table, *numbers)
    return pa.concat_tables([state.read(table, number) for number in numbers])


def append(state: BucketState, table: str, rows: pa.Table, merged: Callable[[pa.Table], pa.Table]) -> None:
    """Adds a segment, and merges those that have become too many.

    Args:
        state: that of the bucket.
        table: which table.
        rows: what is new.
        merged: what is kept of the rows of adjacent segments when they become one.
    """
    numbers = state.slices(table)
    tiers = [_tier(state.read(table, number)) for number in numbers]
    numbers.append(numbers[-1] + 1 if numbers else 0)
    tiers.append(_tier(rows))
    begin = len(numbers) - 1
    first = begin
    while first > 0 and tiers[first - 1] <= tiers[-1]:
        first -= 1
        if begin - first + 1 >= FAN:
            older = [state.read(table, number) for number in numbers[first:begin]]
            rows = merged(pa.concat_tables([*older, rows]))
            begin = first
            tiers[first:] = [_tier(rows)]
    for number in numbers[begin + 1 : -1]:
        state.write(table, rows.slice(0, 0), number)
    state.write(table, rows, numbers[begin])


def replace(state: BucketState, table: str, rows: pa.Table) -> None:
    """Makes one segment of the rows, in place of all."""
    numbers = state.slices(table)
    for number in numbers[1:]:
        state.write(table, rows.slice(0, 0), number)
    state.write(table, rows, numbers[0] if numbers else 0)


def _tier(rows: pa.Table) -> int:
    # Sizes of a tier are less than four times apart.
    return max(int(rows.num_rows), _SMALL).bit_length() // 2
