"""MATCH_RECOGNIZE by bucket: rows wait for the watermark, are sorted, and go to the matcher of their key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from compiler.jobplan.operators.match import Match
from runtime.match.matcher import Matcher, Partial, SkipProblem, Values
from runtime.match.partials import PartialTables
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks
from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.arrow import tuples
from runtime.spark.buckets.ordering import Numbers, OrderBy, numbers_of, sorted_rows
from runtime.spark.buckets.waiting import first_ms
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
        return PartialTables(keys, reads, self._matcher.lookback)

    @cached_property
    def _order(self) -> tuple[OrderBy, ...]:
        further = (
            OrderBy(f"{ORDER}{n}", by.descending, by.nulls_first) for n, by in enumerate(self._op.order)
        )
        return (OrderBy(TIME), *further)

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
        rows, beginnings = state.read("rows"), state.read("beginnings")
        keys, (of_rows, of_beginnings, of_due) = self._numbered(rows, beginnings, due)
        # Keys that nothing happens to stay as they are, in Arrow.
        concerned = np.zeros(keys.num_rows, np.bool_)
        concerned[of_due] = True
        concerned[of_beginnings[self._is_over(beginnings, watermarks.current_ms)]] = True
        some_rows, some_beginnings = concerned[of_rows], concerned[of_beginnings]
        partials = self._partials.load(
            rows.filter(pa.array(some_rows)),
            of_rows[some_rows],
            beginnings.filter(pa.array(some_beginnings)),
            of_beginnings[some_beginnings],
        )
        try:
            found = self._match(partials, due, of_due, watermarks.current_ms)
        except (SkipProblem, ArithmeticError) as error:
            raise MatchFailure(f"{self._op.uid}: {error}") from error
        if concerned.any():
            new_rows, new_beginnings = self._partials.store(partials, keys)
            beginnings = pa.concat_tables([beginnings.filter(pa.array(~some_beginnings)), new_beginnings])
            state.write("rows", pa.concat_tables([rows.filter(pa.array(~some_rows)), new_rows]))
            state.write("beginnings", beginnings)
        state.wake_ms = self._next(beginnings, earliest)
        return self._emit(found, keys) if found else None

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

    def _numbered(self, *tables: pa.Table) -> tuple[pa.Table, list[Numbers]]:
        """All keys of some tables, and the number of each row's."""
        names = [f"{KEY}{n}" for n in range(len(self._op.key_columns))]
        groups = np.concatenate(numbers_of(*((table, names) for table in tables)))
        _, places, numbers = np.unique(groups, return_index=True, return_inverse=True)
        if names:
            keys = pa.concat_tables([table.select(names) for table in tables]).take(pa.array(places))
        else:
            keys = pa.table({"": [None] * len(places)}).select([])
        return keys, np.split(numbers, np.cumsum([table.num_rows for table in tables])[:-1])

    # --- matches --------------------------------------------------------------

    def _match(
        self, partials: dict[int, Partial], due: pa.Table, of_due: Numbers, current_ms: int
    ) -> list[tuple[int, int, Values]]:
        """The matches in the order of the time at which they are known."""
        order = sorted_rows(of_due, due, self._order)
        rows = due.take(pa.array(order))
        found: list[tuple[int, int, Values]] = []
        matcher = self._matcher
        for key, time, row in zip(
            of_due[order].tolist(),
            rows.column(TIME).cast(pa.int64()).to_pylist(),
            tuples(rows, self._reads),
            strict=True,
        ):
            partial = partials.get(key)
            if partial is None:
                partial = partials[key] = Partial()
            matches = matcher.process(partial, row, time)
            if matches:
                found += [(time, key, values) for values in matches]
        closed = current_ms >= CLOSED_WATERMARK_MS
        for key, partial in partials.items():
            if closed:
                ended = matcher.finish(partial)
            else:
                # Whatever comes lies behind the watermark.
                matcher.expire(partial, current_ms * 1000 + 1)
                ended = matcher.matches(partial)
            found += [(current_ms * 1000, key, values) for values in ended]
        found.sort(key=itemgetter(0))
        return found

    def _is_over(self, beginnings: pa.Table, current_ms: int) -> Any:
        """Of which beginnings nothing is to come any more."""
        if current_ms >= CLOSED_WATERMARK_MS or not beginnings.num_rows:
            return np.ones(beginnings.num_rows, np.bool_)
        if self._op.within_ms is None:
            return np.zeros(beginnings.num_rows, np.bool_)
        return beginnings.column("time").to_numpy() <= (current_ms - self._op.within_ms) * 1000

    def _next(self, beginnings: pa.Table, earliest: int | None) -> int | None:
        """When there is something to do without a new row."""
        times = [] if earliest is None else [earliest]
        if beginnings.num_rows:
            # What is unfinished at the end of a bounded run stands before nothing any more.
            times.append(CLOSED_WATERMARK_MS)
            if self._op.within_ms is not None:
                times.append(first_ms(beginnings.column("time").to_numpy()) + self._op.within_ms)
        return min(times, default=None)

    def _emit(self, found: Sequence[tuple[int, int, Values]], keys: pa.Table) -> pa.Table:
        _, numbers, values = zip(*found, strict=True)
        columns = list(zip(*values, strict=True))
        fields = list(self._output)[len(keys.columns) :]
        arrays = [pa.array(column, f.type) for column, f in zip(columns, fields, strict=True)]
        return pa.Table.from_arrays([*keys.take(pa.array(numbers)).columns, *arrays], schema=self._output)


def _milliseconds(rows: pa.Table) -> Any:
    """Event times in whole milliseconds, rounded up: the watermark has passed a row once it reaches this."""
    micros = rows.column(TIME).cast(pa.int64())
    return pc.divide(pc.add(micros, 999), 1000)
