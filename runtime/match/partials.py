"""What is unfinished, as Arrow tables: the rows since the earliest beginning of a key, and the beginnings."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from runtime.match.matcher import Beginning, Partial, Way
from runtime.match.steps import Lookback, Row, Step
from runtime.spark.buckets.arrow import tuples
from runtime.spark.buckets.ordering import Numbers

NUMBER = "__number"
_WAY = pa.struct([("position", pa.int32()), ("path", pa.binary())])


class PartialTables:
    """Converts the partial matches of a bucket.

    A beginning's ways are paths: the variables of its rows, one after the other, as 32-bit numbers. Rows
    follow one another without a gap, so a path and the number of the first row say all.

    Args:
        keys: Arrow fields of the key.
        reads: Arrow fields of the values of a row.
        lookback: what steps keep at hand.
    """

    def __init__(self, keys: Sequence[pa.Field], reads: Sequence[pa.Field], lookback: Lookback) -> None:
        self._keys = list(keys)
        self._reads = list(reads)
        self._lookback = lookback
        self.rows = pa.schema([*keys, pa.field(NUMBER, pa.int64()), *reads])
        self.beginnings = pa.schema(
            [
                *keys,
                pa.field(NUMBER, pa.int64()),
                pa.field("time", pa.int64()),
                pa.field("complete", pa.binary()),
                pa.field("ways", pa.list_(_WAY)),
            ]
        )

    def load(
        self, rows: pa.Table, row_keys: Numbers, beginnings: pa.Table, beginning_keys: Numbers
    ) -> dict[int, Partial]:
        """The partial matches by key, keys being numbers."""
        order = np.lexsort((rows.column(NUMBER).to_numpy(), row_keys))
        rows, row_keys = rows.take(pa.array(order)), row_keys[order]
        numbers = rows.column(NUMBER).to_numpy()
        keys, begins, counts = np.unique(row_keys, return_index=True, return_counts=True)
        partials = {
            key: Partial(next_number=number + 1)
            for key, number in zip(keys.tolist(), numbers[begins + counts - 1].tolist(), strict=True)
        }
        # A row of a key is so far from its first one as their numbers are.
        places = dict(zip(keys.tolist(), (begins - numbers[begins]).tolist(), strict=True))
        known = tuples(rows, [f.name for f in self._reads])

        ways = beginnings.column("ways").combine_chunks()
        offsets = ways.offsets.to_pylist()
        positions, paths = (ways.values.field(name).to_pylist() for name in ("position", "path"))
        begun = tuples(beginnings, [NUMBER, "time", "complete"])
        for key, (number, time, complete), start, end in zip(
            beginning_keys.tolist(), begun, offsets, offsets[1:], strict=False
        ):
            steps = _Steps(self._lookback, known, places[key] + number)
            there: list[Way] = [(positions[at], steps.last(paths[at])) for at in range(start, end)]
            done = None if complete is None else steps.last(complete)
            partials[key].beginnings.append(Beginning(number, time, there, done))
        return partials

    def store(self, partials: Mapping[int, Partial], keys: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The tables of rows and beginnings; a key without a beginning leaves nothing.

        Args:
            partials: by key.
            keys: the values of the keys, by number.
        """
        rows: list[tuple[Any, ...]] = []
        begun: list[tuple[Any, ...]] = []
        ways: list[tuple[int, bytes]] = []
        ends = [0]
        for key, partial in partials.items():
            if not partial.beginnings:
                continue
            # The first is unfinished, or it would have been given out: its ways reach to the latest row.
            step: Step | None = partial.beginnings[0].ways[0][1]
            number = partial.next_number
            while step is not None:
                number -= 1
                rows.append((key, number, *step.row))
                step = step.previous
            for each in partial.beginnings:
                complete = None if each.complete is None else _path(each.complete)
                begun.append((key, each.number, each.time, complete))
                ways += [(position, _path(last)) for position, last in each.ways]
                ends.append(len(ways))
        listed = pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()),
            pa.StructArray.from_arrays(_arrays(ways, list(_WAY)), fields=list(_WAY)),
        )
        width = len(self._keys)
        return (
            pa.table([*_keyed(keys, rows, list(self.rows)[width:])], schema=self.rows),
            pa.table([*_keyed(keys, begun, list(self.beginnings)[width:-1]), listed], schema=self.beginnings),
        )


class _Steps:
    """The steps of a beginning's ways, which share what they have in common.

    Args:
        lookback: what steps keep at hand.
        rows: of which those of the beginning stand together.
        first: the place of its first row.
    """

    def __init__(self, lookback: Lookback, rows: Sequence[Row], first: int) -> None:
        self._lookback = lookback
        self._rows = rows
        self._first = first
        self._known: dict[tuple[int, int], Step] = {}

    def last(self, path: bytes) -> Step:
        """The step that a path leads to."""
        step: Step | None = None
        for size, variable in enumerate(array("I", path), 1):
            known = self._known.get((id(step), variable))
            if known is None:
                row = self._rows[self._first + size - 1]
                look = self._lookback.before_all() if step is None else self._lookback.after(step)
                known = Step(row, variable, step, size, *look)
                self._known[id(step), variable] = known
            step = known
        assert step is not None  # a way has at least the row that it began with
        return step


def _keyed(keys: pa.Table, rows: Sequence[tuple[Any, ...]], fields: Sequence[pa.Field]) -> list[pa.Array]:
    """Columns of rows that begin with the number of their key."""
    numbers, *columns = _arrays(rows, [pa.field("key", pa.int64()), *fields])
    return [*keys.take(numbers).columns, *columns]


def _arrays(rows: Sequence[tuple[Any, ...]], fields: Sequence[pa.Field]) -> list[pa.Array]:
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    return [pa.array(column, f.type) for column, f in zip(columns, fields, strict=True)]


def _path(step: Step) -> bytes:
    return array("I", step.path()).tobytes()
