"""Rows that come and go: tables in which a row stands once, with how often it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.ordering import Numbers, group_numbers, looked_up
from runtime.spark.buckets.state import StateTable

TOUCHED = "__touched"
"""When a row, or the group that it stands for, last changed: milliseconds of processing time."""

TIMES = "__times"
"""How often a row is there."""


def signs(rows: pa.Table, op: str) -> Numbers:
    """1 for a row that comes, -1 for one that goes; without operations all come."""
    if op not in rows.column_names:
        return np.ones(rows.num_rows, np.int64)
    back = pc.is_in(rows.column(op), pa.array(["-U", "-D"])).to_numpy()
    return np.where(back, -1, 1)


def with_touched(name: str, schema: pa.Schema) -> StateTable:
    """A table of rows that remembers when each of them, or its group, last changed."""
    return StateTable(name, schema.append(pa.field(TOUCHED, pa.int64())))


def alive(held: pa.Table, ttl_ms: int | None, now_ms: int) -> pa.Table:
    """What is kept without the rows whose time to live is over."""
    if ttl_ms is None or not held.num_rows:
        return held
    lives = held.column(TOUCHED).to_numpy() + ttl_ms > now_ms
    return held if lives.all() else held.filter(pa.array(lives))


def numbers_of(*keyed: tuple[pa.Table, Sequence[str]]) -> list[Numbers]:
    """Numbers of the keys of several tables, the same for the same keys; each table has its own names."""
    columns = zip(*([table.column(key) for key in keys] for table, keys in keyed), strict=True)
    together = [
        pa.chunked_array([c for column in same for c in column.chunks], same[0].type) for same in columns
    ]
    names = [str(number) for number in range(len(together))]
    found = group_numbers(pa.table(together, names=names), names)
    return list(np.split(found, np.cumsum([table.num_rows for table, _ in keyed])[:-1]))


@dataclass(frozen=True, slots=True)
class Moved:
    """Rows of a bag before and after an epoch, each once, in the order in which they came.

    Args:
        rows: the rows; those of `held` come first, in its order, and may be there no more.
        old, new: how often each was there, and is.
    """

    rows: pa.Table
    old: Numbers
    new: Numbers

    @property
    def changed(self) -> npt.NDArray[np.bool_]:
        """Which of them are there more or less often now."""
        found: npt.NDArray[np.bool_] = self.old != self.new
        return found


def move(held: pa.Table, rows: pa.Table, sign: Numbers, same: Sequence[str]) -> Moved:
    """Adds and takes back rows; one that is not there, or was forgotten, cannot be taken back.

    Args:
        held: the bag, with `TIMES`.
        rows: what comes and goes.
        sign: 1 or -1 for each of them.
        same: columns by which a row is known again.
    """
    columns = [name for name in held.column_names if name not in (TIMES, TOUCHED)]
    together = pa.concat_tables(
        [held.select(columns), rows.select(columns).cast(held.select(columns).schema)]
    )
    found, first, which = np.unique(group_numbers(together, same), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(found), np.int64)
    place[order] = np.arange(len(found))
    which = place[which]
    old = np.zeros(len(found), np.int64)
    old[which[: held.num_rows]] = held.column(TIMES).to_numpy()
    change = np.zeros(len(found), np.int64)
    np.add.at(change, which[held.num_rows :], sign)
    return Moved(together.take(first[order]), old, np.maximum(old + change, 0))


def labelled(rows: pa.Table, sign: Numbers, key: Sequence[str] | None, op: str) -> pa.Table:
    """Rows that come and go as changes: of a key with both, the one is `-U` and the other `+U`.

    Args:
        rows: the rows, those that go first.
        sign: 1 or -1 for each of them.
        key: columns of which no two rows are the same, or None if there are none.
        op: the column that takes the operation.
    """
    goes = sign < 0
    both = np.zeros(rows.num_rows, np.bool_)
    if key is not None and goes.any() and not goes.all():
        numbers = group_numbers(rows, key)
        both = np.isin(numbers, np.intersect1d(numbers[goes], numbers[~goes]))
    codes = np.array(["+I", "+U", "-D", "-U"])[2 * goes + both]
    return rows.append_column(op, pa.array(codes.tolist(), pa.string()))


def matches(asked: Numbers, groups: Numbers) -> tuple[Numbers, Numbers]:
    """All pairs of equal numbers: places in `asked`, and in `groups`."""
    order = np.argsort(groups, kind="stable")
    begin = np.searchsorted(groups, asked, side="left", sorter=order)
    count = np.searchsorted(groups, asked, side="right", sorter=order) - begin
    left = np.repeat(np.arange(len(asked)), count)
    within = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, order[np.repeat(begin, count) + within]


def totals(asked: Numbers, groups: Numbers, values: Numbers) -> Numbers:
    """For each number that is asked for the sum of the values of its group, 0 if there is none."""
    distinct, which = np.unique(groups, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, which, values)
    return looked_up(asked, distinct, sums, 0)
