"""Top-N and deduplication on a bucket: for groups that close, for first rows, and as changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from runtime.spark.buckets.bags import TOUCHED, alive, with_touched
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import (
    Numbers,
    OrderBy,
    Ranked,
    looked_up,
    microseconds,
    numbers_of,
    ranked,
)
from runtime.spark.buckets.state import BucketState, StateTable
from runtime.spark.buckets.waiting import by_slice, first_ms, take_due

_ROWS, _SEEN, _WAITING = "rows", "seen", "waiting"
_TIME = "__time"
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Spec:
    """What is kept.

    Args:
        schema: columns of the input, those of keys and order included.
        keys: columns that make a group.
        order: in which order a group's rows come; equal ones in that of their arrival.
        limit: how many rows of a group are kept.
        rank: the column of the output that takes a row's number, or None.
        time: the timestamp column whose watermark decides, or None.
        latest: whether of equal rows the one that came last goes first.
        ttl_ms: how long a group is kept that does not change, in processing time, or None.
        op: the column of the output that takes the operation of a change.
        former: hidden columns that the input has no more where a key is a column of its own.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    order: tuple[OrderBy, ...]
    limit: int
    rank: str | None = None
    time: str | None = None
    latest: bool = False
    ttl_ms: int | None = None
    op: str = ""
    former: frozenset[str] = frozenset()

    def ranked(self, rows: pa.Table) -> Ranked:
        """All rows, in order."""
        return ranked(rows, self.keys, self.order)

    def groups(self, seen: pa.Table, rows: pa.Table) -> tuple[Numbers, Numbers]:
        """Numbers of the groups of two tables, the same for the same keys."""
        old, new = numbers_of((seen, self.keys), (rows, self.keys))
        return old, new

    def behind(self, held: pa.Table, new: pa.Table) -> pa.Table:
        """Rows in the order in which equal ones go: those that were there come first, or last."""
        if not self.latest:
            return pa.concat_tables([held, new])
        return pa.concat_tables([new.take(np.arange(new.num_rows)[::-1]), held])

    @property
    def key_fields(self) -> list[pa.Field]:
        """Columns of the keys."""
        return [self.schema.field(key) for key in self.keys]

    def with_rank(self, rows: pa.Table, ranks: Numbers) -> pa.Table:
        """The rows with their numbers, if they are asked for."""
        return rows if self.rank is None else rows.append_column(self.rank, pa.array(ranks.astype(np.int32)))


class ClosedTopN(BucketOperator):
    """Keeps the first rows of groups that a watermark closes, and emits them then."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    @property
    def tables(self) -> Sequence[StateTable]:
        return (StateTable(_ROWS, self._spec.schema),)

    @property
    def late_columns(self) -> Sequence[str | None]:
        return (self._spec.time,)

    def process(self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks) -> None:
        """Merges the rows into what is kept of their groups."""
        del watermarks
        (rows,) = inputs
        time = _known(self._spec.time)
        for number, part in by_slice(rows, time):
            together = self._spec.behind(state.read(_ROWS, number), part)
            kept = self._spec.ranked(together).first(self._spec.limit)
            state.write(_ROWS, together.take(kept.rows), number)
        state.wake_by(first_ms(microseconds(rows.column(time))))

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Emits the groups that are closed."""
        due = take_due(state, _ROWS, _known(self._spec.time), watermarks.current_ms)
        if not due:
            return None
        rows = pa.concat_tables(due)
        order = self._spec.ranked(rows)
        return self._spec.with_rank(rows.take(order.rows), order.rank)


class FirstByTime(BucketOperator):
    """Emits the first row of each group by event time, once the watermark has passed it.

    `seen` has the time of each group's first row as far as it is known. A row that is earlier than that
    waits for its own time, and then is the group's if no earlier one has come.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        times = [pa.field(_TIME, pa.int64()), pa.field(TOUCHED, pa.int64())]
        self._seen = pa.schema([*spec.key_fields, *times])

    @property
    def tables(self) -> Sequence[StateTable]:
        return (StateTable(_SEEN, self._seen), StateTable(_WAITING, self._spec.schema))

    @property
    def late_columns(self) -> Sequence[str | None]:
        return (self._spec.time,)

    def process(self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks) -> None:
        """Remembers the rows that are the first of their group so far."""
        time = _known(self._spec.time)
        rows = inputs[0].take(self._spec.ranked(inputs[0]).first(1).rows)
        times = microseconds(rows.column(time))
        seen, dropped = self._alive(state.read(_SEEN), watermarks)

        old, new = self._spec.groups(seen, rows)
        known = looked_up(new, old, seen.column(_TIME).to_numpy(), _NEVER)
        # What the watermark had passed before this epoch has gone out.
        better = (times < known) & (known > watermarks.late_ms * 1000)
        if not better.any():
            if dropped:
                state.write(_SEEN, seen)
            return
        first = rows.filter(pa.array(better))
        stays = ~np.isin(old, new[better])
        touched = np.full(first.num_rows, watermarks.processing_ms)
        added = pa.table(
            [*(first.column(key) for key in self._spec.keys), pa.array(times[better]), pa.array(touched)],
            schema=self._seen,
        )
        state.write(_SEEN, pa.concat_tables([seen.filter(pa.array(stays)), added]))
        for number, part in by_slice(first, time):
            state.write(_WAITING, pa.concat_tables([state.read(_WAITING, number), part]), number)
        state.wake_by(first_ms(times[better]))

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Emits the rows that are still the first of their group."""
        time = _known(self._spec.time)
        due = take_due(state, _WAITING, time, watermarks.current_ms)
        if not due:
            return None
        rows = pa.concat_tables(due)
        seen = state.read(_SEEN)
        old, new = self._spec.groups(seen, rows)
        times = microseconds(rows.column(time))
        first = looked_up(new, old, seen.column(_TIME).to_numpy(), _NEVER) == times
        order = np.flatnonzero(first)[np.argsort(times[first], kind="stable")]
        return self._spec.with_rank(rows.take(order), np.ones(len(order), np.int64))

    def _alive(self, seen: pa.Table, watermarks: Watermarks) -> tuple[pa.Table, bool]:
        """The groups without those whose time to live is over; a row that waits keeps its group."""
        ttl = self._spec.ttl_ms
        if ttl is None or not seen.num_rows:
            return seen, False
        gone = seen.column(TOUCHED).to_numpy() + ttl <= watermarks.processing_ms
        gone &= seen.column(_TIME).to_numpy() <= watermarks.late_ms * 1000
        return (seen.filter(pa.array(~gone)), True) if gone.any() else (seen, False)


class FirstByArrival(BucketOperator):
    """Emits the row of each group that comes first, at once."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._seen = pa.schema([*spec.key_fields, pa.field(TOUCHED, pa.int64())])

    @property
    def tables(self) -> Sequence[StateTable]:
        return (StateTable(_SEEN, self._seen),)

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Lets through what no group has had yet."""
        kept = state.read(_SEEN)
        seen = alive(kept, self._spec.ttl_ms, watermarks.processing_ms)
        (rows,) = inputs
        # The first place at which a group stands is in `seen` if it was there.
        places = np.unique(np.concatenate(self._spec.groups(seen, rows)), return_index=True)[1]
        first = np.sort(places[places >= seen.num_rows]) - seen.num_rows
        if not len(first):
            if seen.num_rows < kept.num_rows:
                state.write(_SEEN, seen)
            return None
        found = rows.take(first)
        touched = pa.array(np.full(len(first), watermarks.processing_ms))
        added = pa.table([*(found.column(k) for k in self._spec.keys), touched], schema=self._seen)
        state.write(_SEEN, pa.concat_tables([seen, added]))
        return self._spec.with_rank(found, np.ones(len(first), np.int64))


class ChangingTopN(BucketOperator):
    """Keeps the first rows of each group as they are now, and emits what changes.

    A change is a row with its number, `+I` if the group had no row of that number, else `+U`. Changes of
    one number in one epoch are one change. As rows only come, no number ever goes; a group whose time to
    live is over goes without a word, as in Flink.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._rows = with_touched(_ROWS, spec.schema)

    @property
    def tables(self) -> Sequence[StateTable]:
        return (self._rows,)

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Merges the rows into what is kept, and compares it with what was."""
        spec = self._spec
        stored = state.read(_ROWS)
        held = alive(stored, spec.ttl_ms, watermarks.processing_ms, spec.keys)
        touched = pa.array(np.full(inputs[0].num_rows, watermarks.processing_ms))
        new = inputs[0].append_column(TOUCHED, touched)
        together = spec.behind(held, new)
        before = new.num_rows if spec.latest else 0
        now = spec.ranked(together)
        kept = now.first(spec.limit)

        was_old = (now.rows >= before) & (now.rows < before + held.num_rows)
        first = now.rank <= spec.limit
        if was_old[first].all():
            if held.num_rows < stored.num_rows:
                state.write(_ROWS, held)
            return None
        # A group's rows were numbered without gaps, so an old row's number is how many old ones there are up
        # to it, and the group had a row of some number if it had that many.
        begin = np.flatnonzero(now.rank == 1)
        length = np.diff(np.append(begin, len(now.rows)))
        count = np.cumsum(was_old)
        old_rank = count - np.repeat(count[begin] - was_old[begin], length)
        old_size = np.repeat(np.add.reduceat(was_old.astype(np.int64), begin), length)
        changed = ~(was_old & (old_rank == now.rank))[first]
        state.write(_ROWS, together.take(kept.rows))
        op = np.where(kept.rank <= old_size[first], "+U", "+I")[changed]
        rows = together.take(kept.rows[changed]).drop_columns([TOUCHED])
        return spec.with_rank(rows, kept.rank[changed]).append_column(spec.op, pa.array(op, pa.string()))


def _known(time: str | None) -> str:
    assert time is not None
    return time
