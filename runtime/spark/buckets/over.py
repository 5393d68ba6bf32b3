"""Functions OVER the rows before one, on a bucket.

Rows wait until the watermark has passed them; then all rows of their time are there, and they are computed
in the order of time. What is kept behind them depends on the frames: of RANGE with an interval the rows of
that long, of ROWS the last rows of each partition, of frames without a beginning one row of totals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa

from runtime.spark.buckets import frames as f
from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.bags import TOUCHED, alive
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import Numbers, microseconds, numbers_of
from runtime.spark.buckets.state import BucketState, StateTable
from runtime.spark.buckets.waiting import SLICE_MS, by_slice, first_ms, take_due

_WAITING, _PAST, _LAST, _TOTALS = "waiting", "past", "last", "totals"


@dataclass(frozen=True, slots=True)
class Function:
    """A column to compute.

    Args:
        name: the column's.
        function: sum, count, avg, min, max, first_value, last_value, lag or row_number.
        arg: the column that it reads; of count, NULL where a row does not count.
        default: the column with LAG's default, or None.
        unit, preceding: the frame; milliseconds for a range, None for all rows before.
        offset: LAG's, in rows.
        type: of the result.
        ignore_nulls: whether first_value and last_value pass over NULL.
    """

    name: str
    function: str
    arg: str
    type: pa.DataType
    unit: Literal["rows", "range"] = "rows"
    preceding: int | None = None
    offset: int = 0
    default: str | None = None
    ignore_nulls: bool = False

    @property
    def keeps(self) -> str:
        """The table of what it has to keep."""
        if self.function != "lag" and self.preceding is None:
            return _TOTALS
        return _PAST if self.unit == "range" else _LAST

    @property
    def weight(self) -> str:
        """The column of its totals that says how many rows count."""
        return f"{self.arg}_count"

    @property
    def total_type(self) -> pa.DataType:
        """Of the value that stands for all rows so far."""
        if self.function in ("sum", "avg") and pa.types.is_decimal(self.type):
            # An average has four digits more than what it is of.
            return pa.decimal128(38, self.type.scale - (4 if self.function == "avg" else 0))
        return self.type

    def computed(self, values: pa.Array, weights: Numbers | None, frames: f.Frames) -> pa.Array:
        """What stands for each frame in the totals: of an average, the sum."""
        match self.function:
            case "sum" | "avg":
                return f.sums(values, frames)
            case "min" | "max":
                return f.extremes(values, frames, greatest=self.function == "max")
            case "first_value":
                return f.first_values(values, frames, ignore_nulls=self.ignore_nulls)
            case "last_value":
                return f.last_values(values, frames, ignore_nulls=self.ignore_nulls)
        assert weights is not None
        return pa.array(f.counts(weights, frames))


@dataclass(frozen=True)
class Spec:
    """What is computed.

    Args:
        schema: columns of the input, those of keys and arguments included.
        keys: columns that partition.
        time: the timestamp column that orders.
        functions: the new columns.
        ttl_ms: how long a partition is kept that does not change, in processing time, or None.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    time: str
    functions: tuple[Function, ...]
    ttl_ms: int | None = None

    def kept(self, table: str) -> list[Function]:
        """The functions that need a table."""
        return [function for function in self.functions if function.keeps == table]

    @cached_property
    def range_ms(self) -> int:
        """How far the longest range reaches."""
        return max((function.preceding or 0 for function in self.kept(_PAST)), default=0)

    @cached_property
    def last_rows(self) -> int:
        """How many rows before one are looked at."""
        return max((max(fn.preceding or 0, fn.offset) for fn in self.kept(_LAST)), default=0)


class OverRows(BucketOperator):
    """Adds the functions to each row once the watermark has passed it."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        keys = [spec.schema.field(key) for key in spec.keys]
        time, touched = spec.schema.field(spec.time), pa.field(TOUCHED, pa.int64())
        self._past = pa.schema([*keys, time, *self._args(_PAST)])
        self._last = pa.schema([*keys, *self._args(_LAST), touched])
        totals = [field for fn in spec.kept(_TOTALS) for field in self._total_fields(fn)]
        self._totals = pa.schema([*keys, *totals, touched])

    @property
    def tables(self) -> Sequence[StateTable]:
        return (
            StateTable(_WAITING, self._spec.schema),
            StateTable(_PAST, self._past),
            StateTable(_LAST, self._last),
            StateTable(_TOTALS, self._totals),
        )

    @property
    def late_columns(self) -> Sequence[str | None]:
        return (self._spec.time,)

    def process(self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks) -> None:
        """Lets the rows wait for their time."""
        del watermarks
        (rows,) = inputs
        for number, part in by_slice(rows, self._spec.time):
            state.write(_WAITING, pa.concat_tables([state.read(_WAITING, number), part]), number)
        state.wake_by(first_ms(microseconds(rows.column(self._spec.time))))

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Computes the rows whose time has come, and emits them in its order."""
        due = take_due(state, _WAITING, self._spec.time, watermarks.current_ms)
        if not due:
            self._forget(state, watermarks.current_ms)
            return None
        rows = pa.concat_tables(due)
        rows = rows.take(pc.sort_indices(rows, sort_keys=[(self._spec.time, "ascending")])).combine_chunks()
        found: dict[str, pa.Array] = {}
        if self._spec.kept(_PAST):
            found |= self._over_range(rows, state, watermarks)
        if self._spec.kept(_LAST):
            found |= self._over_last(rows, state, watermarks)
        if self._spec.kept(_TOTALS):
            found |= self._over_totals(rows, state, watermarks)
        for function in self._spec.functions:
            rows = rows.append_column(function.name, found[function.name].cast(function.type))
        return rows

    # --- ranges of time ----------------------------------------------------------------------------------

    def _over_range(self, rows: pa.Table, state: BucketState, watermarks: Watermarks) -> dict[str, pa.Array]:
        spec = self._spec
        new = rows.select(self._past.names)
        oldest = first_ms(microseconds(new.column(spec.time))) - 1 - spec.range_ms
        reached = [n for n in state.slices(_PAST) if (n + 1) * SLICE_MS > oldest]
        held = pa.concat_tables([state.read(_PAST, n) for n in reached] or [self._past.empty_table()])
        together, groups, order, is_new = self._together(held, new)
        times = microseconds(together.column(spec.time))[order]
        found: dict[str, pa.Array] = {}
        for function in spec.kept(_PAST):
            frames = f.Frames.of_range(groups, times, (function.preceding or 0) * 1000)
            found[function.name] = self._result(function, together, order, frames, is_new)
        for number, part in by_slice(new, spec.time):
            state.write(_PAST, pa.concat_tables([state.read(_PAST, number), part]), number)
        self._forget(state, watermarks.current_ms)
        return found

    def _forget(self, state: BucketState, watermark_ms: int) -> None:
        """Drops the slices that no row to come can reach."""
        for number in state.slices(_PAST):
            if (number + 1) * SLICE_MS <= watermark_ms - self._spec.range_ms:
                state.write(_PAST, self._past.empty_table(), number)

    # --- numbers of rows ---------------------------------------------------------------------------------

    def _over_last(self, rows: pa.Table, state: BucketState, watermarks: Watermarks) -> dict[str, pa.Array]:
        spec = self._spec
        touched = pa.array(np.full(rows.num_rows, watermarks.processing_ms))
        new = rows.append_column(TOUCHED, touched).select(self._last.names)
        held = alive(state.read(_LAST), spec.ttl_ms, watermarks.processing_ms, spec.keys)
        together, groups, order, is_new = self._together(held, new)
        found = {
            function.name: self._result(
                function, together, order, f.Frames.of_rows(groups, function.preceding), is_new
            )
            for function in spec.kept(_LAST)
        }
        # Counted from the end of each partition.
        backwards = f.Frames.of_rows(groups[::-1], None)
        kept = (np.arange(len(order)) - backwards.begin)[::-1] < spec.last_rows
        last = together.take(pa.array(order[kept]))
        state.write(_LAST, pa.concat_tables([self._idle(held, new), last]))
        return found

    # --- totals ------------------------------------------------------------------------------------------

    def _over_totals(self, rows: pa.Table, state: BucketState, watermarks: Watermarks) -> dict[str, pa.Array]:
        """One row of totals goes before the rows of its partition, and counts as many as it stands for."""
        spec = self._spec
        held = alive(state.read(_TOTALS), spec.ttl_ms, watermarks.processing_ms, spec.keys)
        new = self._as_totals(rows, watermarks.processing_ms)
        together, groups, order, is_new = self._together(held, new)
        # Totals have no time; they were before all.
        times = np.full(len(order), np.iinfo(np.int64).min)
        times[is_new] = microseconds(rows.column(spec.time))[order[is_new] - (len(order) - rows.num_rows)]
        last = np.append(groups[1:] != groups[:-1], True)
        columns = {key: together.column(key).take(pa.array(order[last])) for key in spec.keys}
        found: dict[str, pa.Array] = {}
        for function in spec.kept(_TOTALS):
            frames = (
                f.Frames.of_rows(groups, None)
                if function.unit == "rows"
                else f.Frames.of_range(groups, times, None)
            )
            values = _flat(together.column(function.arg).take(pa.array(order)))
            weights = together.column(function.weight).to_numpy()[order]
            total = function.computed(values, weights, frames)
            count = f.counts(weights, frames)
            columns[function.arg] = total.filter(pa.array(last))
            columns[function.weight] = pa.array(count[last])
            value = f.means(total, count, function.type) if function.function == "avg" else total
            found[function.name] = _scattered(value, order, is_new)
        columns[TOUCHED] = pa.array(np.full(int(last.sum()), watermarks.processing_ms))
        current = pa.table(
            [_flat(columns[name]).cast(self._totals.field(name).type) for name in self._totals.names],
            schema=self._totals,
        )
        state.write(_TOTALS, pa.concat_tables([self._idle(held, new), current]))
        return found

    def _as_totals(self, rows: pa.Table, now_ms: int) -> pa.Table:
        columns: list[pa.ChunkedArray] = [rows.column(key) for key in self._spec.keys]
        for function in self._spec.kept(_TOTALS):
            arg = rows.column(function.arg)
            counts = function.function in ("count", "row_number")
            type_ = self._totals.field(function.arg).type
            columns.append(pa.nulls(rows.num_rows, type_) if counts else arg.cast(type_))
            columns.append(pc.is_valid(arg).cast(pa.int64()))
        columns.append(pa.array(np.full(rows.num_rows, now_ms)))
        return pa.table(columns, schema=self._totals)

    def _total_fields(self, function: Function) -> tuple[pa.Field, pa.Field]:
        return pa.field(function.arg, function.total_type), pa.field(function.weight, pa.int64())

    # --- what they share ---------------------------------------------------------------------------------

    def _args(self, table: str) -> list[pa.Field]:
        names = [name for fn in self._spec.kept(table) for name in (fn.arg, fn.default) if name is not None]
        return [self._spec.schema.field(name) for name in names]

    def _together(self, held: pa.Table, new: pa.Table) -> tuple[pa.Table, Numbers, Numbers, np.ndarray]:
        """What is kept of the partitions of new rows, and these: sorted by partition, then as they came.

        Returns:
            The table, and for its rows in order: the group, the position, and whether it is new.
        """
        old, of_new = numbers_of((held, self._spec.keys), (new, self._spec.keys))
        wanted = np.isin(old, of_new)
        together = pa.concat_tables([held.filter(pa.array(wanted)), new])
        groups = np.concatenate([old[wanted], of_new])
        order = np.argsort(groups, kind="stable")
        return together, groups[order], order, order >= int(wanted.sum())

    def _idle(self, held: pa.Table, new: pa.Table) -> pa.Table:
        """What is kept of partitions without new rows."""
        old, of_new = numbers_of((held, self._spec.keys), (new, self._spec.keys))
        return held.filter(pa.array(~np.isin(old, of_new)))

    def _result(
        self, function: Function, together: pa.Table, order: Numbers, frames: f.Frames, is_new: np.ndarray
    ) -> pa.Array:
        positions = pa.array(order)
        values = _flat(together.column(function.arg).take(positions))
        weights = pc.is_valid(values).cast(pa.int64()).to_numpy(zero_copy_only=False)
        if function.function == "lag":
            default = function.default
            other = None if default is None else _flat(together.column(default).take(positions))
            return _scattered(f.lagged(values, frames, function.offset, other), order, is_new)
        value = function.computed(values, weights, frames)
        if function.function == "avg":
            value = f.means(value, f.counts(weights, frames), function.type)
        return _scattered(value, order, is_new)


def _scattered(values: pa.Array, order: Numbers, is_new: np.ndarray) -> pa.Array:
    """Values of the new rows, back in the order in which those came."""
    return values.filter(pa.array(is_new)).take(pa.array(np.argsort(order[is_new])))


def _flat(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
