"""Rows that come and go: bags of rows, kept as what came and what was taken back.

A bag is a list of entries: a row, and how often it came or, below zero, was taken back, which is never more
often than it had come. So an epoch appends what it changes (`segments.py`), whatever there is already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.ordering import (
    Numbers,
    compact,
    greatest_of_groups,
    group_numbers,
    sorted_by,
    starts_of,
)
from runtime.spark.buckets.segments import append, read_all, replace
from runtime.spark.buckets.state import BucketState, StateTable

Flags = npt.NDArray[np.bool_]

TOUCHED = "__touched"
"""When a row, or the group that it stands for, last changed: milliseconds of processing time."""

TIMES = "__times"
"""How often a row came, or was taken back."""


def signs(rows: pa.Table, op: str) -> Numbers:
    """1 for a row that comes, -1 for one that goes; without operations all come."""
    if op not in rows.column_names:
        return np.ones(rows.num_rows, np.int64)
    back = pc.is_in(rows.column(op), pa.array(["-U", "-D"])).to_numpy()
    return np.where(back, -1, 1)


def with_touched(name: str, schema: pa.Schema) -> StateTable:
    """A table of rows that remembers when each of them, or its group, last changed."""
    return StateTable(name, schema.append(pa.field(TOUCHED, pa.int64())))


def alive(held: pa.Table, ttl_ms: int | None, now_ms: int, keys: Sequence[str] | None = None) -> pa.Table:
    """What is kept without the rows whose time to live is over.

    Args:
        held: rows with `TOUCHED`.
        ttl_ms: the time to live in milliseconds, or None if there is none.
        now_ms: the epoch's time.
        keys: columns that make groups, of which all rows live as long as the last that was touched; None if
            each row lives by itself.
    """
    dead = too_old(held, ttl_ms, now_ms, keys)
    return held.filter(pa.array(~dead)) if dead.any() else held


def too_old(held: pa.Table, ttl_ms: int | None, now_ms: int, keys: Sequence[str] | None = None) -> Flags:
    """Which rows' time to live is over; the arguments are those of `alive`."""
    touched = held.column(TOUCHED).to_numpy()
    if ttl_ms is None or touched.min(initial=now_ms) + ttl_ms > now_ms:
        return np.zeros(len(touched), np.bool_)
    if keys is not None:
        touched = greatest_of_groups(group_numbers(held, keys), touched)
    dead: Flags = touched + ttl_ms <= now_ms
    return dead


@dataclass(frozen=True, slots=True)
class Bag:
    """A bag in the state.

    Args:
        table: where its entries are, which have `TIMES` and `TOUCHED`.
        same: columns by which a row is known again.
        ttl_ms: how long an entry is kept that does not change, in processing time, or None.
        groups: columns of groups, of which all entries live as long as the last that was touched; None if
            each lives by itself.
    """

    table: str
    same: tuple[str, ...]
    ttl_ms: int | None = None
    groups: tuple[str, ...] | None = None

    def read(self, state: BucketState, now_ms: int) -> tuple[pa.Table, Flags]:
        """All entries, and which of them are too old; if most are, they are dropped for good."""
        held = read_all(state, self.table)
        dead = too_old(held, self.ttl_ms, now_ms, self.groups)
        if 2 * np.count_nonzero(dead) > len(dead):
            held = alive(self._cancelled(held), self.ttl_ms, now_ms, self.groups)
            replace(state, self.table, held)
            dead = np.zeros(held.num_rows, np.bool_)
        return held, dead

    def add(self, state: BucketState, entries: pa.Table) -> None:
        """Appends entries, if there are any."""
        if entries.num_rows:
            append(state, self.table, entries, self._cancelled)

    def _cancelled(self, rows: pa.Table) -> pa.Table:
        return cancelled(rows, self.same, self.groups)


@dataclass(frozen=True, slots=True)
class Moved:
    """Entries of a bag before and after an epoch: those that are held, and behind them those that come.

    Args:
        rows: their rows; equal ones may be several entries.
        stored: how often each of them is there by what the state says, those that are too old included.
        old, new: how often each was there, and is.
    """

    rows: pa.Table
    stored: Numbers
    old: Numbers
    new: Numbers

    @property
    def changed(self) -> Flags:
        """Which of them are there more or less often now."""
        found: Flags = self.old != self.new
        return found


def move(
    held: pa.Table,
    rows: pa.Table,
    sign: Numbers,
    groups: Numbers,
    same: Sequence[str],
    dead: Flags,
) -> Moved:
    """Adds and takes back rows; one that is not there, or was forgotten, cannot be taken back.

    Of equal rows the one that came last is taken back first.

    Args:
        held: entries of the bag, with `TIMES`: how often a row came, or, below zero, was taken back.
        rows: what comes and goes.
        sign: 1 or -1 for each of them.
        groups: numbers of groups, of both, of which equal rows have the same.
        same: columns by which a row is known again.
        dead: which entries are too old to count.
    """
    names = [name for name in held.column_names if name in rows.column_names]
    plain = held.select(names)
    together = pa.concat_tables([plain, rows.select(names).cast(plain.schema)])
    count = held.num_rows
    change = np.concatenate([held.column(TIMES).to_numpy(), sign])
    stored = np.where(np.arange(len(change)) < count, change, 0)
    come = change - stored
    # Only where something was taken back, rows have to be known again.
    back = change < 0
    at = which = np.empty(0, np.int64)
    if back.any():
        (groups,), bound = compact(groups)
        troubled = np.zeros(bound, np.bool_)
        troubled[groups[back]] = True
        at = np.flatnonzero(troubled[groups])
        # Equal rows one after the other, each in the order of arrival.
        which = group_numbers(together.take(at), same)
        order = sorted_by(which)
        at, which = at[order], which[order]
        stored[at] = _left(stored[at], which)[0]
    old = stored.copy()
    old[:count][dead] = 0
    new = old + come
    if len(which):
        # What comes of a row and what is taken back of it is one change.
        begins = starts_of(which)
        net = _sums(come[at], begins)
        first = np.zeros(len(at), np.bool_)
        new_ones = np.flatnonzero(at >= count)
        first[new_ones[np.unique(which[new_ones], return_index=True)[1]]] = True
        there = old[at] + np.where(first, np.maximum(net, 0), 0)
        total = np.maximum(_sums(old[at], begins) + net, 0)
        earlier = _before(there, begins)
        new[at] = np.clip(total - earlier, 0, there)
    return Moved(together, stored, old, new)


def cancelled(rows: pa.Table, same: Sequence[str], touched_by: Sequence[str] | None = None) -> pa.Table:
    """Adjacent entries of a bag without what came and was taken back.

    Args:
        rows: the entries, with `TIMES` and `TOUCHED`; what they take back may be in older ones.
        same: columns by which a row is known again.
        touched_by: columns of groups that are touched as a whole, or None if each entry is by itself.
    """
    times = rows.column(TIMES).to_numpy()
    if not (times < 0).any():
        return rows
    if touched_by is not None:
        touched = greatest_of_groups(group_numbers(rows, touched_by), rows.column(TOUCHED).to_numpy())
        place = rows.column_names.index(TOUCHED)
        rows = rows.set_column(place, rows.schema.field(TOUCHED), pa.array(touched))
    numbers = group_numbers(rows, same)
    order = sorted_by(numbers)
    kept, lacking = _left(times[order], numbers[order])
    left = np.zeros(len(times), np.int64)
    left[order] = kept - lacking
    place = rows.column_names.index(TIMES)
    return rows.set_column(place, rows.schema.field(TIMES), pa.array(left)).filter(pa.array(left != 0))


def _left(change: Numbers, which: Numbers) -> tuple[Numbers, Numbers]:
    """How much of each entry is left if what is taken back is that which came last.

    Args:
        change: by how much each entry changes how often its row is there.
        which: numbers of the rows, sorted.

    Returns:
        What is left, and, at the first entry of each row, what was taken back but had come before.
    """
    begins = starts_of(which)
    running = _before(change, begins) + change
    # The least of this and all later entries of a row: so many were there all the time.
    apart = 2 * int(np.abs(running).max(initial=0)) + 1
    first = begins == np.arange(len(begins))
    shift = np.cumsum(first) * apart
    least = np.minimum.accumulate((running + shift)[::-1])[::-1] - shift
    lacking = np.where(first, np.maximum(-least, 0), 0)
    earlier = np.where(first, np.minimum(least, 0), np.concatenate([[0], least[:-1]]))
    return least - earlier, lacking


def _before(values: Numbers, begins: Numbers) -> Numbers:
    """For each entry the sum of those before it of its row."""
    running = np.cumsum(values) - values
    found: Numbers = running - running[begins]
    return found


def _sums(values: Numbers, begins: Numbers) -> Numbers:
    """For each entry the sum of all of its row."""
    found = np.zeros(len(values), np.int64)
    np.add.at(found, begins, values)
    sums: Numbers = found[begins]
    return sums


def labelled(rows: pa.Table, sign: Numbers, numbers: Numbers | None, op: str) -> pa.Table:
    """Rows that come and go as changes: of a key with both, the one is `-U` and the other `+U`.

    Args:
        rows: the rows, those that go first.
        sign: 1 or -1 for each of them.
        numbers: those of the key of each, of which no two rows are the same, or None if there is none.
        op: the column that takes the operation.
    """
    goes = sign < 0
    both = np.zeros(rows.num_rows, np.bool_)
    if numbers is not None and goes.any() and not goes.all():
        both = np.isin(numbers, np.intersect1d(numbers[goes], numbers[~goes]))
    codes = pa.array(["+I", "+U", "-D", "-U"]).take(pa.array(2 * goes + both))
    return rows.append_column(op, codes)


def matches(asked: Numbers, groups: Numbers) -> tuple[Numbers, Numbers]:
    """All pairs of equal numbers: places in `asked`, and in `groups`."""
    (asked, groups), bound = compact(asked, groups)
    order = sorted_by(groups)
    size = np.bincount(groups, minlength=bound)
    begin, count = (np.cumsum(size) - size)[asked], size[asked]
    left = np.repeat(np.arange(len(asked)), count)
    within = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, order[np.repeat(begin, count) + within]


def totals(asked: Numbers, groups: Numbers, values: Numbers) -> Numbers:
    """For each number that is asked for the sum of the values of its group, 0 if there is none."""
    (asked, groups), bound = compact(asked, groups)
    sums = np.zeros(bound, np.int64)
    np.add.at(sums, groups, values)
    found: Numbers = sums[asked]
    return found
