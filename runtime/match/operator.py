"""MATCH_RECOGNIZE by bucket: rows wait for the watermark, are sorted, and go to the matcher of their key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from compiler.jobplan.operators.match import Match
from runtime.match.matcher import Found, Matcher, Partial, SkipProblem
from runtime.match.partials import Key, PartialTables
from runtime.match.steps import Row
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks
from runtime.spark.buckets.arrow import compute as pc
from runtime.state.checkpoint import CLOSED_WATERMARK_MS

TIME = "__time"
KEY, ORDER = "__key_", "__order_"

# Rows that wait are kept in slices of event time, so that an epoch rewrites those that it touches.
_SLICE_MS = 3_600_000


class MatchFailure(Exception):
    """A match or a condition that cannot be computed; carries the operator's uid."""


class MatchOperator(BucketOperator):
    """Runs the matcher on the keys of a bucket.

    Args:
        op: the operator of the job plan.
        rows: the columns of its input: `__key_n`, `__time`, `__order_n`, and what the matcher reads.
        output: the columns of its output: `__key_n`, and what a match hands out.
    """

    def __init__(self, op: Match, rows: pa.Schema, output: pa.Schema) -> None:
        self._op = op
        self._rows = rows
        self._output = output

    @cached_property
    def _reads(self) -> tuple[str, ...]:
        return tuple(item.name for item in self._op.reads)

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self._op, self._reads)

    @cached_property
    def _partials(self) -> PartialTables:
        keys = [self._rows.field(f"{KEY}{n}") for n in range(len(self._op.key_columns))]
        reads = [self._rows.field(name) for name in self._reads]
        return PartialTables(keys, reads, len(self._matcher.variables))

    @property
    def late_columns(self) -> Sequence[str | None]:
        """A row is late by its own time."""
        return (TIME,)

    @property
    def tables(self) -> Sequence[StateTable]:
        """Rows that wait, rows that may be part of a match, and what has begun with them."""
        return (
            StateTable("waiting", self._rows),
            StateTable("rows", self._partials.rows),
            StateTable("beginnings", self._partials.beginnings),
        )

    def process(self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks) -> None:
        """Puts the rows where they wait for the watermark."""
        del watermarks
        (rows,) = inputs
        times = _milliseconds(rows)
        numbers = pc.divide(times, _SLICE_MS)
        for number in pc.unique(numbers).to_pylist():
            part = rows.filter(pc.equal(numbers, number))
            state.write("waiting", pa.concat_tables([state.read("waiting", number), part]), number)
        state.wake_by(pc.min(times).as_py())

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table | None:
        """Matches the rows that the watermark has passed, and gives up what WITHIN has ended."""
        due, earliest = self._due(state, watermarks.current_ms)
        partials = self._partials.load(state.read("rows"), state.read("beginnings"))
        try:
            found = list(self._match(partials, due, watermarks.current_ms))
        except (SkipProblem, ArithmeticError) as error:
            raise MatchFailure(f"{self._op.uid}: {error}") from error
        rows, beginnings = self._partials.store(partials.items())
        state.write("rows", rows)
        state.write("beginnings", beginnings)
        state.wake_ms = self._next(partials, earliest)
        return self._emit(found) if found else None

    # --- rows in order --------------------------------------------------------

    def _due(self, state: BucketState, current_ms: int) -> tuple[pa.Table, int | None]:
        """Takes the rows that the watermark has passed, and says when the next one is due."""
        due = [self._rows.empty_table()]
        earliest: int | None = None
        for number in state.slices("waiting"):
            if number * _SLICE_MS > current_ms:
                # Slices are in ascending order, and so no row of a later one is earlier.
                first = pc.min(_milliseconds(state.read("waiting", number))).as_py()
                earliest = first if earliest is None else min(earliest, first)
                break
            rows = state.read("waiting", number)
            passed = pc.less_equal(_milliseconds(rows), current_ms)
            due.append(rows.filter(passed))
            left = rows.filter(pc.invert(passed))
            state.write("waiting", left, number)
            if left.num_rows:
                first = pc.min(_milliseconds(left)).as_py()
                earliest = first if earliest is None else min(earliest, first)
        return pa.concat_tables(due), earliest

    def _sorted(self, rows: pa.Table) -> Iterator[tuple[Key, int, Row]]:
        """Key, time in microseconds and values of each row, in the order of time and ORDER BY."""
        order = list(range(rows.num_rows))
        # Python's sort keeps what is equal as it is: the last column first, the time at the end.
        for number, column in reversed(list(enumerate(self._op.order))):
            values = rows.column(f"{ORDER}{number}").to_pylist()
            order.sort(key=lambda at, values=values: _sortable(values[at]), reverse=column.descending)  # type: ignore[misc]  # bound now
            order.sort(
                key=lambda at, values=values: values[at] is None,  # type: ignore[misc]  # bound now
                reverse=column.nulls_first,
            )
        times = rows.column(TIME).cast(pa.int64()).to_pylist()
        order.sort(key=times.__getitem__)
        keys = _tuples(rows, [f"{KEY}{n}" for n in range(len(self._op.key_columns))])
        values = _tuples(rows, self._reads)
        for at in order:
            yield keys[at], times[at], values[at]

    # --- matches --------------------------------------------------------------

    def _match(
        self, partials: dict[Key, Partial], due: pa.Table, current_ms: int
    ) -> Iterator[tuple[Key, Found]]:
        for key, time, row in self._sorted(due):
            partial = partials.setdefault(key, Partial())
            for found in self._matcher.process(partial, row, time):
                yield key, found
        closed = current_ms >= CLOSED_WATERMARK_MS
        for key, partial in partials.items():
            if closed:
                ended = self._matcher.finish(partial)
            else:
                # Whatever comes lies behind the watermark.
                self._matcher.expire(partial, current_ms * 1000 + 1)
                ended = self._matcher.matches(partial)
            for found in ended:
                yield key, found

    def _next(self, partials: dict[Key, Partial], earliest: int | None) -> int | None:
        """When there is something to do without a new row."""
        times = [] if earliest is None else [earliest]
        for partial in partials.values():
            if partial.beginnings:
                # What is unfinished at the end of a bounded run stands before nothing any more.
                times.append(CLOSED_WATERMARK_MS)
                if self._op.within_ms is not None:
                    times.append(-(-partial.beginnings[0].time // 1000) + self._op.within_ms)
        return min(times, default=None)

    def _emit(self, found: Iterable[tuple[Key, Found]]) -> pa.Table:
        columns = zip(*((*key, *match.values) for key, match in found), strict=True)
        arrays = [pa.array(column, f.type) for column, f in zip(columns, self._output, strict=True)]
        return pa.Table.from_arrays(arrays, schema=self._output)


def _milliseconds(rows: pa.Table) -> Any:
    """Event times in whole milliseconds, rounded up: the watermark has passed a row once it reaches this."""
    micros = rows.column(TIME).cast(pa.int64())
    return pc.divide(pc.add(micros, 999), 1000)


def _sortable(value: Any) -> Any:
    """A value by which rows can be sorted, whatever stands in for NULL; NaN is the greatest."""
    if value is None:
        return (0,)
    return (1,) if isinstance(value, float) and math.isnan(value) else (0, value)


def _tuples(rows: pa.Table, names: Sequence[str]) -> list[Row]:
    if not names:
        return [()] * rows.num_rows
    return list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
