"""Top-N of a table that changes, on a bucket."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from runtime.spark.buckets.bags import TIMES, TOUCHED, labelled, move, numbers_of, signs
from runtime.spark.buckets.normalize import equal_rows
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import Numbers, greatest_of_groups
from runtime.spark.buckets.state import BucketState, StateTable
from runtime.spark.buckets.top_n import Spec

_ROWS, _RANK = "rows", "__rank"


class RetractingTopN(BucketOperator):
    """Keeps all rows of each group, so that the next one comes up when one of the first is taken back.

    What it gives names the rows that go: of a number whose row changes, the old row and the new one. Rows of
    one order stand in that of their arrival; one that was taken back and comes again is the latest.

    Args:
        spec: what is kept; `op` is the operation in the input too, if that is changes.
        same: columns by which a row is known again.
    """

    def __init__(self, spec: Spec, same: Sequence[str]) -> None:
        self._spec, self._same = spec, tuple(same)
        more = [pa.field(TIMES, pa.int64()), pa.field(TOUCHED, pa.int64())]
        self._held = pa.schema([*spec.schema, *more])

    @property
    def tables(self) -> Sequence[StateTable]:
        return (StateTable(_ROWS, self._held),)

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Compares the first rows of the groups that the epoch touches with what they were."""
        spec, (rows,), now = self._spec, inputs, watermarks.processing_ms
        kept = state.read(_ROWS)
        held = self._alive(kept, now)
        old, new = numbers_of((held, spec.keys), (rows, spec.keys))
        concerned = np.isin(old, new)
        before = held.filter(pa.array(concerned))
        moved = move(before, rows, signs(rows, spec.op), self._same)
        if not moved.changed.any():
            if held.num_rows < kept.num_rows:
                state.write(_ROWS, held)
            return None
        touched = np.full(moved.rows.num_rows, now, np.int64)
        columns = [*moved.rows.columns, pa.array(moved.new), pa.array(touched)]
        after = pa.table(columns, schema=self._held).filter(pa.array(moved.new > 0))
        state.write(_ROWS, pa.concat_tables([held.filter(pa.array(~concerned)), after]))
        return self._difference(self._first(before), self._first(after))

    def _alive(self, held: pa.Table, now_ms: int) -> pa.Table:
        """Without the groups in which nothing has changed for the time to live."""
        if self._spec.ttl_ms is None or not held.num_rows:
            return held
        (groups,) = numbers_of((held, self._spec.keys))
        lives = greatest_of_groups(groups, held.column(TOUCHED).to_numpy()) + self._spec.ttl_ms > now_ms
        return held if lives.all() else held.filter(pa.array(lives))

    def _first(self, held: pa.Table) -> pa.Table:
        """The first rows of each group, with their numbers."""
        spec = self._spec
        # More than `limit` of one row are never among the first.
        times = np.minimum(held.column(TIMES).to_numpy(), spec.limit)
        rows = held.select(spec.schema.names).take(np.repeat(np.arange(held.num_rows), times))
        if spec.latest:
            rows = rows.take(np.arange(rows.num_rows)[::-1])
        found = spec.ranked(rows).first(spec.limit)
        return rows.take(found.rows).append_column(_RANK, pa.array(found.rank.astype(np.int32)))

    def _difference(self, was: pa.Table, now: pa.Table) -> pa.Table | None:
        """The rows of the numbers whose row is another, those that go first."""
        key = (*self._spec.keys, _RANK)
        old, new = numbers_of((was, key), (now, key))
        _, left, right = np.intersect1d(old, new, assume_unique=True, return_indices=True)
        columns = self._spec.schema.names
        same = equal_rows(was.select(columns).take(left), now.select(columns).take(right))
        goes, comes = np.ones(len(old), np.bool_), np.ones(len(new), np.bool_)
        goes[left[same]] = comes[right[same]] = False
        if not goes.any() and not comes.any():
            return None
        parts = [was.filter(pa.array(goes)), now.filter(pa.array(comes))]
        sign: Numbers = np.repeat([-1, 1], [part.num_rows for part in parts])
        found = labelled(pa.concat_tables(parts), sign, key, self._spec.op)
        rank = self._spec.rank
        if rank is None:
            return found.drop_columns([_RANK])
        return found.rename_columns([rank if name == _RANK else name for name in found.column_names])
