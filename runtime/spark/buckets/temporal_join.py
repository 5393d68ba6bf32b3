"""Each row of a stream with the version of a table that was valid at its time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import numbers_of
from runtime.spark.buckets.state import BucketState, StateTable

Ints = npt.NDArray[np.int64]

PENDING, VERSIONS = "pending", "versions"
MATCHED = "__headrace_matched"
"""A column of what is emitted: whether there was a version."""

DELETE = "-D"
# Rows wait in slices of this many microseconds of event time, so that an epoch touches few of them.
_SLICE_US = 300_000_000


class TemporalJoinOperator(BucketOperator):
    """Rows of the first input wait until the watermark has passed their time, then meet their version.

    A version that comes late still counts for the rows that wait. Of each key the versions stay that a row
    may still ask for: all behind the watermark's reach, and the last one before it.

    Args:
        left, right: Arrow schemas of the inputs.
        keys: names of the columns that must be equal, the same on both sides; they come last in both.
        left_time, right_time: timestamp columns.
        operation: the column of `right` that says what a version does, or None if all are valid rows.
        outer: whether rows without a version are emitted.
    """

    def __init__(
        self,
        left: pa.Schema,
        right: pa.Schema,
        keys: Sequence[str],
        left_time: str,
        right_time: str,
        operation: str | None,
        outer: bool,
    ) -> None:
        self._left, self._right = left, right
        self._keys = tuple(keys)
        self._left_time, self._right_time = left_time, right_time
        self._operation = operation
        self._outer = outer

    @property
    def tables(self) -> Sequence[StateTable]:
        """Rows that wait, and the versions."""
        return (StateTable(PENDING, self._left), StateTable(VERSIONS, self._right))

    @property
    def late_columns(self) -> Sequence[str | None]:
        """Versions are never late: dropping one would leave an older one valid for ever."""
        return (self._left_time, None)

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Puts rows aside and remembers versions."""
        rows, versions = inputs
        if rows.num_rows:
            self._wait(rows, state)
        if versions.num_rows:
            self._remember(versions, state, watermarks)
        return None

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Joins the rows whose time the watermark has passed."""
        reached = watermarks.current_ms * 1000
        due: list[pa.Table] = []
        state.wake_ms = None
        for number in state.slices(PENDING):
            if number * _SLICE_US > reached:
                # Slices lie in order of time; the first that is left says when to look again.
                state.wake_by(_wake(_times(state.read(PENDING, number), self._left_time)))
                break
            rows = state.read(PENDING, number)
            times = _times(rows, self._left_time)
            is_due = times <= reached
            due.append(rows.filter(pa.array(is_due)))
            state.write(PENDING, rows.filter(pa.array(~is_due)), number)
            if not is_due.all():
                state.wake_by(_wake(times[~is_due]))
                break
        return self._join(pa.concat_tables(due), state) if due else None

    def _wait(self, rows: pa.Table, state: BucketState) -> None:
        times = _times(rows, self._left_time)
        numbers = times // _SLICE_US
        for number in np.unique(numbers).tolist():
            new = rows.filter(pa.array(numbers == number))
            state.write(PENDING, pa.concat_tables([state.read(PENDING, number), new]), number)
        state.wake_by(_wake(times))

    def _remember(self, versions: pa.Table, state: BucketState, watermarks: Watermarks) -> None:
        # A row that waits asks for a version no older than the last one before its own time.
        wake_ms = watermarks.current_ms if state.wake_ms is None else state.wake_ms - 1
        horizon = min(watermarks.current_ms, wake_ms) * 1000
        # A version without a time is valid at none.
        dated = versions.filter(versions.column(self._right_time).is_valid())
        merged = pa.concat_tables([state.read(VERSIONS), dated])
        state.write(VERSIONS, self._pruned(merged, horizon))

    def _pruned(self, versions: pa.Table, horizon: int) -> pa.Table:
        """Versions by key and time, without those that no row can ask for any more.

        A deletion is a version as any other: an older one that comes late must not be valid again.
        """
        (codes,) = _codes([versions], self._keys)
        times = _times(versions, self._right_time)
        # Stable: of two versions of one time the later one comes last, and wins.
        order = np.lexsort((times, codes))
        codes, times = codes[order], times[order]
        ends = np.append(codes[1:] != codes[:-1], True)
        next_time = np.append(times[1:], 0)
        replaced = ~ends & ((next_time <= horizon) | (next_time == times))
        kept = ~replaced & (codes >= 0)
        return versions.take(pa.array(order[kept]))

    def _join(self, rows: pa.Table, state: BucketState) -> pa.Table:
        versions = state.read(VERSIONS)
        row_codes, version_codes = _codes([rows, versions], self._keys)
        found = _valid_at(
            row_codes,
            _times(rows, self._left_time),
            version_codes,
            _times(versions, self._right_time),
        )
        matched = found >= 0
        if self._operation is not None and versions.num_rows:
            deleted = np.array(versions.column(self._operation).to_pylist(), dtype=object) == DELETE
            matched &= ~deleted[found]
        chosen = versions.take(pa.array(found, mask=~matched))
        hidden = {*self._keys, self._operation}
        columns = {name: rows.column(name) for name in self._left.names if name not in hidden}
        columns |= {name: chosen.column(name) for name in self._right.names if name not in hidden}
        joined = pa.table({**columns, MATCHED: pa.array(matched)})
        return joined if self._outer else joined.filter(pa.array(matched))


def _times(rows: pa.Table, column: str) -> Ints:
    """A timestamp column in microseconds."""
    values: Ints = rows.column(column).cast(pa.int64()).to_numpy()
    return values


def _wake(times: Ints) -> int:
    """The first whole millisecond by which one of the times has been reached."""
    return -(-int(times.min()) // 1000)


def _codes(tables: Sequence[pa.Table], keys: Sequence[str]) -> list[Ints]:
    """Numbers that are equal where the keys are, over all tables; -1 where one of them is NULL."""
    numbers = np.concatenate(numbers_of(*((table, keys) for table in tables)))
    # Numbered anew, so that they stay small.
    codes = np.unique(numbers, return_inverse=True)[1]
    for key in keys:
        nulls = np.concatenate([pc.is_null(table.column(key)).to_numpy() for table in tables])
        codes = np.where(nulls, -1, codes)
    return list(np.split(codes, np.cumsum([table.num_rows for table in tables])[:-1]))


def _valid_at(row_codes: Ints, row_times: Ints, version_codes: Ints, version_times: Ints) -> Ints:
    """For each row the index of the last version of its key that is no later than it, or -1.

    Key and rank of time make one number, so that one binary search finds all.
    """
    if not len(version_codes):
        return np.full(len(row_codes), -1, np.int64)
    times, ranks = np.unique(np.concatenate([row_times, version_times]), return_inverse=True)
    size = len(times) + 1
    wanted = row_codes * size + ranks[: len(row_times)]
    offered = version_codes * size + ranks[len(row_times) :]
    order = np.argsort(offered, kind="stable")
    places = np.searchsorted(offered[order], wanted, side="right") - 1
    found = order[np.maximum(places, 0)]
    fits = (places >= 0) & (version_codes[found] == row_codes) & (row_codes >= 0)
    return np.where(fits, found, -1)
