"""A join of two tables that change, on a bucket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.bags import (
    TIMES,
    TOUCHED,
    Moved,
    alive,
    labelled,
    matches,
    move,
    numbers_of,
    signs,
    totals,
)
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import Numbers
from runtime.spark.buckets.state import BucketState, StateTable

_ALONE = "__alone"

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """One side of a join.

    Args:
        schema: its columns, with the hidden ones of the keys and `same`.
        keys: columns that must be equal, in the order of the other side's.
        same: columns by which a row is known again.
        output: its columns that the output has.
        outer: whether a row without a partner is given all the same.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    same: tuple[str, ...]
    output: tuple[str, ...]
    outer: bool


@dataclass(frozen=True)
class ChangeJoinSpec:
    """What is joined.

    Args:
        sides: left and right; no column of the output is in both.
        key: columns of the output of which no two rows are the same, or None if there are none.
        op: the column with the operation of a change.
        ttl_ms: how long a row is kept that does not change, in processing time, or None.
    """

    sides: tuple[Side, Side]
    key: tuple[str, ...] | None
    op: str
    ttl_ms: int | None = None


class ChangeJoiner(BucketOperator):
    """Gives the difference that an epoch makes to the join, once for each pair.

    A pair is there as often as its rows are together. Of an outer side a row remembers whether it was given
    alone, so that it is taken back when a partner comes, and comes again when the last partner is taken back.
    A partner whose time to live is over is forgotten without a word.
    """

    def __init__(self, spec: ChangeJoinSpec) -> None:
        self._spec = spec
        more = [pa.field(TIMES, pa.int64()), pa.field(_ALONE, pa.bool_()), pa.field(TOUCHED, pa.int64())]
        self._tables = tuple(
            StateTable(name, pa.schema([*side.schema, *more]))
            for name, side in zip(("left", "right"), spec.sides, strict=True)
        )

    @property
    def tables(self) -> Sequence[StateTable]:
        return self._tables

    @property
    def late_columns(self) -> Sequence[str | None]:
        return (None, None)

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Moves the rows of the keys that the epoch touches, and compares their pairs."""
        spec, now = self._spec, watermarks.processing_ms
        parts = [self._known(rows, side) for rows, side in zip(inputs, spec.sides, strict=True)]
        emitted = [part for _, lone in parts for part in lone]
        kept = [state.read(table.name) for table in self._tables]
        held = [alive(table, spec.ttl_ms, now) for table in kept]
        rows = [part for part, _ in parts]
        by = [side.keys for side in spec.sides]
        *of_held, left, right = numbers_of(*zip([*held, *rows], by * 2, strict=True))
        touched = np.unique(np.concatenate([left, right]))
        concerned = [np.isin(numbers, touched) for numbers in of_held]
        before = [table.filter(pa.array(mask)) for table, mask in zip(held, concerned, strict=True)]
        moved = [
            move(table.drop_columns([_ALONE]), part, signs(part, spec.op), side.same)
            for table, part, side in zip(before, rows, spec.sides, strict=True)
        ]
        keys = numbers_of(*zip((m.rows for m in moved), by, strict=True))
        emitted += self._pairs(moved, keys)
        for number in (0, 1):
            was, alone, lone = self._lone(number, before[number], moved, keys)
            emitted += lone
            changed = moved[number].changed
            if changed.any() or (was != alone).any() or held[number].num_rows < kept[number].num_rows:
                rest = held[number].filter(pa.array(~concerned[number]))
                new = self._stored(number, before[number], moved[number], alone, now)
                state.write(self._tables[number].name, pa.concat_tables([rest, new]))
        if not emitted:
            return None
        together = pa.concat_tables(emitted)
        # What goes stands before what comes.
        order = np.argsort(together.column(TIMES).to_numpy(), kind="stable")
        together = together.take(order)
        sign = together.column(TIMES).to_numpy()
        return labelled(together.drop_columns([TIMES]), sign, spec.key, spec.op)

    def _known(self, rows: pa.Table, side: Side) -> tuple[pa.Table, list[pa.Table]]:
        """The rows whose keys are known, and those that find no partner for that they are not."""
        unknown = np.zeros(rows.num_rows, np.bool_)
        for key in side.keys:
            unknown |= pc.is_null(rows.column(key)).to_numpy()
        if not unknown.any():
            return rows, []
        alone = rows.filter(pa.array(unknown))
        lone = [self._output(side, alone, signs(alone, self._spec.op))] if side.outer else []
        return rows.filter(pa.array(~unknown)), lone

    def _pairs(self, moved: Sequence[Moved], keys: Sequence[Numbers]) -> list[pa.Table]:
        """The pairs that come or go: those of a row that changed."""
        (left, right), (mine, yours) = moved, keys
        changed, changes = np.flatnonzero(left.changed), np.flatnonzero(right.changed)
        stays = np.flatnonzero(~left.changed)
        a, b = matches(mine[changed], yours)
        c, d = matches(mine[stays], yours[changes])
        lefts, rights = np.concatenate([changed[a], stays[c]]), np.concatenate([b, changes[d]])
        difference = left.new[lefts] * right.new[rights] - left.old[lefts] * right.old[rights]
        sides = self._spec.sides
        found: list[pa.Table] = []
        for sign in (-1, 1):
            times = np.maximum(sign * difference, 0)
            if not times.any():
                continue
            columns = [
                m.rows.select(side.output).take(np.repeat(places, times))
                for m, side, places in zip(moved, sides, (lefts, rights), strict=True)
            ]
            found.append(self._with_sign(columns[0], columns[1], np.full(int(times.sum()), sign)))
        return found

    def _lone(
        self, number: int, before: pa.Table, moved: Sequence[Moved], keys: Sequence[Numbers]
    ) -> tuple[Flags, Flags, list[pa.Table]]:
        """Which rows of a side were given alone and are now, and what comes and goes of that."""
        side, mine, other = self._spec.sides[number], moved[number], moved[1 - number]
        was: Flags = np.zeros(mine.rows.num_rows, np.bool_)
        was[: before.num_rows] = before.column(_ALONE).to_numpy(zero_copy_only=False)
        if not side.outer:
            return was, was, []
        asked, groups = keys[number], keys[1 - number]
        none_now = totals(asked, groups, other.new) == 0
        had = totals(asked, groups, other.old) > 0
        alone: Flags = (mine.new > 0) & none_now & (was | (mine.old == 0) | had)
        difference = mine.new * alone - mine.old * was
        found = []
        for sign in (-1, 1):
            times = np.maximum(sign * difference, 0)
            if times.any():
                rows = mine.rows.take(np.repeat(np.arange(len(times)), times))
                found.append(self._output(side, rows, np.full(rows.num_rows, sign)))
        return was, alone, found

    def _stored(self, number: int, before: pa.Table, moved: Moved, alone: Flags, now_ms: int) -> pa.Table:
        """The rows of a side that are there now."""
        touched = np.full(moved.rows.num_rows, now_ms, np.int64)
        touched[: before.num_rows] = before.column(TOUCHED).to_numpy()
        touched[moved.changed] = now_ms
        columns = [*moved.rows.columns, pa.array(moved.new), pa.array(alone), pa.array(touched)]
        table = pa.table(columns, schema=self._tables[number].schema)
        return table.filter(pa.array(moved.new > 0))

    def _output(self, side: Side, rows: pa.Table, sign: Numbers) -> pa.Table:
        """Rows of a side that have no partner."""
        left, right = self._spec.sides
        other = right if side is left else left
        nulls = pa.table(
            [pa.nulls(rows.num_rows, other.schema.field(name).type) for name in other.output],
            names=list(other.output),
        )
        mine = rows.select(side.output)
        return self._with_sign(*((mine, nulls) if side is left else (nulls, mine)), sign)

    def _with_sign(self, left: pa.Table, right: pa.Table, sign: Numbers) -> pa.Table:
        names = [*left.column_names, *right.column_names, TIMES]
        fields = [side.schema.field(name) for side in self._spec.sides for name in side.output]
        schema = pa.schema([pa.field(f.name, f.type) for f in fields] + [pa.field(TIMES, pa.int64())])
        return pa.table([*left.columns, *right.columns, pa.array(sign, pa.int64())], names=names).cast(schema)
