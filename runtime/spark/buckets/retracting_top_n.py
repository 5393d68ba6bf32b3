"""Top-N of a table that changes, on a bucket."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from runtime.spark.buckets.bags import TIMES, TOUCHED, Bag, labelled, move, signs
from runtime.spark.buckets.normalize import equal_rows
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import Numbers, Ranked, compact, numbers_of, ranked_in
from runtime.spark.buckets.state import BucketState, StateTable
from runtime.spark.buckets.top_n import Spec

_ROWS = "rows"


class RetractingTopN(BucketOperator):
    """Keeps all rows of each group, so that the next one comes up when one of the first is taken back.

    What it gives names the rows that go: of a number whose row changes, the old row and the new one. Rows of
    one order stand in that of their arrival; one that was taken back and comes again is the latest.

    Args:
        spec: what is kept; `op` is the operation in the input too, if that is changes.
        same: columns by which a row is known again.
    """

    version = 3
    readable = frozenset({1, 2})
    """1 had all entries in one segment, and none that takes back; both had columns twice that are keys."""

    def __init__(self, spec: Spec, same: Sequence[str]) -> None:
        self._spec, self._same = spec, tuple(same)
        more = [pa.field(TIMES, pa.int64()), pa.field(TOUCHED, pa.int64())]
        self._held = pa.schema([*spec.schema, *more])
        self._bag = Bag(_ROWS, self._same, spec.ttl_ms, spec.keys)

    @property
    def tables(self) -> Sequence[StateTable]:
        return (StateTable(_ROWS, self._held, self._spec.former),)

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Compares the first rows of the groups that the epoch touches with what they were."""
        spec, (rows,), now = self._spec, inputs, watermarks.processing_ms
        kept, dead = self._bag.read(state, now)
        old, new = numbers_of((kept, spec.keys), (rows, spec.keys))
        concerned = np.isin(old, new)
        before = kept.filter(pa.array(concerned))
        (groups,), _ = compact(np.concatenate([old[concerned], new]))
        moved = move(before, rows, signs(rows, spec.op), groups, self._same, dead[concerned])
        changed = moved.changed
        touched = np.full(len(groups), now, np.int64)
        touched[: before.num_rows] = before.column(TOUCHED).to_numpy()
        touched[np.isin(groups, groups[changed])] = now
        entries = np.flatnonzero(moved.new != moved.stored)
        columns = [
            *moved.rows.take(entries).columns,
            pa.array((moved.new - moved.stored)[entries]),
            pa.array(touched[entries]),
        ]
        self._bag.add(state, pa.table(columns, schema=self._held))
        if not changed.any():
            return None
        was = self._first(moved.rows, groups, np.minimum(moved.old, spec.limit))
        times = np.minimum(moved.new, spec.limit)
        if (moved.new >= moved.old).all():
            # What was not among the first does not come up unless one of them goes.
            times[: before.num_rows] = np.bincount(was.rows, minlength=before.num_rows)[: before.num_rows]
        return self._difference(moved.rows, was, self._first(moved.rows, groups, times))

    def _first(self, rows: pa.Table, groups: Numbers, times: Numbers) -> Ranked:
        """The first rows of each group, each of which is there some times."""
        places = np.repeat(np.arange(len(times)), times)
        if self._spec.latest:
            places = places[::-1]
        order = rows.select([by.column for by in self._spec.order]).take(places)
        found = ranked_in(groups[places], order, self._spec.order).first(self._spec.limit)
        return Ranked(places[found.rows], found.group, found.rank)

    def _difference(self, rows: pa.Table, was: Ranked, now: Ranked) -> pa.Table | None:
        """The rows of the numbers whose row is another, those that go first."""
        spec = self._spec
        rows = rows.select(spec.schema.names)
        old, new = (found.group * spec.limit + found.rank - 1 for found in (was, now))
        _, left, right = np.intersect1d(old, new, assume_unique=True, return_indices=True)
        same = was.rows[left] == now.rows[right]
        other = np.flatnonzero(~same)
        same[other] = equal_rows(rows.take(was.rows[left[other]]), rows.take(now.rows[right[other]]))
        goes, comes = np.ones(len(old), np.bool_), np.ones(len(new), np.bool_)
        goes[left[same]] = comes[right[same]] = False
        if not goes.any() and not comes.any():
            return None
        found = rows.take(np.concatenate([was.rows[goes], now.rows[comes]]))
        ranks = np.concatenate([was.rank[goes], now.rank[comes]])
        sign: Numbers = np.repeat([-1, 1], [np.count_nonzero(goes), np.count_nonzero(comes)])
        return labelled(spec.with_rank(found, ranks), sign, np.concatenate([old[goes], new[comes]]), spec.op)
