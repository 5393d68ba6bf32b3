"""The last row of each key of changes, so that a change can say what it takes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.bags import alive, with_touched
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import OrderBy, looked_up, numbers_of, ranked
from runtime.spark.buckets.state import BucketState, StateTable

_ROWS = "rows"


@dataclass(frozen=True)
class NormalizeSpec:
    """What is kept.

    Args:
        schema: columns of the rows, without those of the change, and with the hidden ones of `keys`.
        keys: columns that make a key.
        op: the column with the operation of a change: `+I`, `+U` or `-D`.
        order: columns by which the changes of an epoch arrived; none if they come in that order.
        ttl_ms: how long a row is kept that does not change, in processing time, or None.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    op: str
    order: tuple[str, ...] = ()
    ttl_ms: int | None = None


class Normalizer(BucketOperator):
    """Gives the difference that an epoch makes to each key: `+I`, `-U` and `+U`, or `-D` with the old row.

    A row that was not there is deleted without a word; so is one that is replaced by the same.
    """

    def __init__(self, spec: NormalizeSpec) -> None:
        self._spec = spec
        self._rows = with_touched(_ROWS, spec.schema)

    @property
    def tables(self) -> Sequence[StateTable]:
        return (self._rows,)

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Compares the last row of each key with the one that is kept."""
        spec, now = self._spec, watermarks.processing_ms
        kept = state.read(_ROWS)
        held = alive(kept, spec.ttl_ms, now)
        rows, old, new = self._last(inputs[0], held)
        place = looked_up(new, old, np.arange(held.num_rows), -1)
        there, gone = place >= 0, pc.equal(rows.column(spec.op), "-D").to_numpy()
        plain = rows.select(spec.schema.names).cast(spec.schema)
        same = np.zeros(len(new), np.bool_)
        before = held.take(place[there]).select(spec.schema.names)
        same[there] = equal_rows(before, plain.filter(pa.array(there))) & ~gone[there]

        out, back = ~gone & ~same, there & ~same
        if out.any() or back.any() or held.num_rows < kept.num_rows or spec.ttl_ms is not None:
            stays = held.filter(pa.array(~np.isin(old, new)))
            added = plain.filter(pa.array(~gone))
            touched = pa.array(np.full(added.num_rows, now, np.int64))
            state.write(_ROWS, pa.concat_tables([stays, added.append_column(self._rows.schema[-1], touched)]))
        if not (out.any() or back.any()):
            return None
        taken = held.take(place[back]).select(spec.schema.names)
        put = plain.filter(pa.array(out))
        op = [*np.where(gone[back], "-D", "-U"), *np.where(there[out], "+U", "+I")]
        return pa.concat_tables([taken, put]).append_column(spec.op, pa.array(op, pa.string()))

    def _last(
        self, rows: pa.Table, held: pa.Table
    ) -> tuple[pa.Table, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The last change of each key; the keys of `held`, and of those, as numbers."""
        spec = self._spec
        if spec.order:
            rows = rows.take(ranked(rows, (), tuple(map(OrderBy, spec.order))).rows)
        old, new = numbers_of((held, spec.keys), (rows, spec.keys))
        found, from_end = np.unique(new[::-1], return_index=True)
        return rows.take(rows.num_rows - 1 - from_end), old, found


def equal_rows(left: pa.Table, right: pa.Table) -> npt.NDArray[np.bool_]:
    """Whether rows at the same place are the same; NULL is as NULL, and NaN as NaN."""
    same = np.ones(left.num_rows, np.bool_)
    for name in left.column_names:
        same &= _equal(left.column(name), right.column(name))
    return same


def _equal(left: pa.ChunkedArray, right: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    if pa.types.is_nested(left.type):
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        # By their text: NaN is no other than itself there.
        return np.array([repr(a) == repr(b) for a, b in pairs], np.bool_)
    equal = pc.fill_null(pc.equal(left, right), False)
    both: Any = pc.and_(pc.is_null(left), pc.is_null(right))
    if pa.types.is_floating(left.type):
        nan = pc.and_(pc.is_nan(left), pc.is_nan(right))
        both = pc.or_(both, pc.fill_null(nan, False))
    found: npt.NDArray[np.bool_] = pc.or_(equal, both).to_numpy()
    return found
