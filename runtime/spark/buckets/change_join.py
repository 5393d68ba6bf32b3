"""A join of two tables that change, on a bucket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.bags import (
    TIMES,
    TOUCHED,
    Bag,
    Flags,
    Moved,
    labelled,
    matches,
    move,
    signs,
    totals,
)
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import Numbers, compact, group_numbers, numbers_of
from runtime.spark.buckets.state import BucketState, StateTable

_ALONE = "__alone"


@dataclass(frozen=True)
class Side:
    """One side of a join.

    Args:
        schema: its columns, with the hidden ones of the keys and `same`.
        keys: columns that must be equal, in the order of the other side's.
        same: columns by which a row is known again.
        output: its columns that the output has.
        outer: whether a row without a partner is given all the same.
        former: hidden columns that it has no more where a key is a column of its own.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    same: tuple[str, ...]
    output: tuple[str, ...]
    outer: bool
    former: frozenset[str] = frozenset()


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

    version = 3
    readable = frozenset({1, 2})
    """1 had all entries in one segment, and none that takes back; both had columns twice that are keys."""

    def __init__(self, spec: ChangeJoinSpec) -> None:
        self._spec = spec
        more = [pa.field(TIMES, pa.int64()), pa.field(_ALONE, pa.bool_()), pa.field(TOUCHED, pa.int64())]
        self._tables = tuple(
            StateTable(name, pa.schema([*side.schema, *more]), side.former)
            for name, side in zip(("left", "right"), spec.sides, strict=True)
        )
        self._bags = tuple(
            Bag(table.name, side.same, spec.ttl_ms)
            for table, side in zip(self._tables, spec.sides, strict=True)
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
        rows = [part for part, _ in parts]
        held, dead = zip(*(bag.read(state, now) for bag in self._bags), strict=True)
        by = [side.keys for side in spec.sides]
        numbers, _ = compact(*numbers_of(*zip([*held, *rows], by * 2, strict=True)))
        of_held, of_rows = numbers[:2], numbers[2:]
        touched = np.concatenate(of_rows)
        concerned = [np.isin(groups, touched) for groups in of_held]
        before = [table.filter(pa.array(mask)) for table, mask in zip(held, concerned, strict=True)]
        keys = [
            np.concatenate([old[mask], new])
            for old, mask, new in zip(of_held, concerned, of_rows, strict=True)
        ]
        moved = [
            move(before[n], rows[n], signs(rows[n], spec.op), keys[n], side.same, dead[n][concerned[n]])
            for n, side in enumerate(spec.sides)
        ]
        emitted += self._pairs(moved, keys)
        for number, bag in enumerate(self._bags):
            was, alone, lone = self._lone(number, before[number], moved, keys)
            emitted += lone
            bag.add(
                state, self._entries(number, before[number], moved[number], keys[number], was, alone, now)
            )
        if not emitted:
            return None
        together = pa.concat_tables(emitted)
        # What goes stands before what comes.
        order = np.argsort(together.column(TIMES).to_numpy(), kind="stable")
        together = together.take(order)
        sign = together.column(TIMES).to_numpy()
        of_key = None if spec.key is None else group_numbers(together, spec.key)
        return labelled(together.drop_columns([TIMES]), sign, of_key, spec.op)

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

    def _entries(
        self,
        number: int,
        before: pa.Table,
        moved: Moved,
        keys: Numbers,
        was: Flags,
        alone: Flags,
        now_ms: int,
    ) -> pa.Table:
        """What an epoch adds to the state of a side."""
        held = before.num_rows
        touched = np.full(len(keys), now_ms, np.int64)
        touched[:held] = before.column(TOUCHED).to_numpy()
        # What is taken back counts for the last of equal rows. Where another of them may be meant, all of the
        # key go and come again.
        again = (moved.stored > moved.old) | ((was != alone) & (moved.old > 0) & (moved.new > 0))
        anew = np.isin(keys, keys[again])
        goes = np.where(anew, moved.stored, np.maximum(moved.stored - moved.new, 0))
        comes = np.where(anew, moved.new, np.maximum(moved.new - moved.stored, 0))
        minus, plus = np.flatnonzero(goes), np.flatnonzero(comes)
        at = np.concatenate([minus, plus])
        columns = [
            *moved.rows.take(at).columns,
            pa.array(np.concatenate([-goes[minus], comes[plus]])),
            pa.array(alone[at]),
            pa.array(touched[at]),
        ]
        return pa.table(columns, schema=self._tables[number].schema)

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
