"""What is unfinished, as Arrow tables: the rows since the earliest beginning of a key, and the beginnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from runtime.match.matcher import Beginning, Partial, Way
from runtime.match.steps import Row, Step

Key = tuple[Any, ...]

NUMBER = "__number"
_WAY = pa.struct([("position", pa.int32()), ("path", pa.binary())])


class PartialTables:
    """Converts the partial matches of a bucket.

    A beginning's ways are paths: the variables of its rows, one after the other, as 32-bit numbers. Rows
    follow one another without a gap, so a path and the number of the first row say all.

    Args:
        keys: Arrow fields of the key.
        reads: Arrow fields of the values of a row.
        variables: how many variables the pattern has.
    """

    def __init__(self, keys: Sequence[pa.Field], reads: Sequence[pa.Field], variables: int) -> None:
        self._keys = list(keys)
        self._reads = list(reads)
        self._variables = variables
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

    def load(self, rows: pa.Table, beginnings: pa.Table) -> dict[Key, Partial]:
        """The partial matches by key."""
        width = len(self._keys)
        known: dict[Key, dict[int, Row]] = {}
        for values in _tuples(rows):
            known.setdefault(values[:width], {})[values[width]] = values[width + 1 :]
        found: dict[Key, Partial] = {}
        for values in _tuples(beginnings):
            key, (number, time, complete, ways) = values[:width], values[width:]
            partial = found.get(key)
            if partial is None:
                partial = found[key] = Partial(next_number=max(known[key]) + 1)
            shared: dict[bytes, Step] = {}
            partial.beginnings.append(
                Beginning(
                    number,
                    time,
                    [Way(w["position"], self._step(known[key], number, w["path"], shared)) for w in ways],
                    None if complete is None else self._step(known[key], number, complete, shared),
                )
            )
        return found

    def store(self, partials: Iterable[tuple[Key, Partial]]) -> tuple[pa.Table, pa.Table]:
        """The tables of rows and beginnings; a key without a beginning leaves nothing."""
        rows: list[Row] = []
        beginnings: list[Row] = []
        for key, partial in partials:
            if not partial.beginnings:
                continue
            # The first is unfinished, or it would have been given out: its ways reach to the latest row.
            first = partial.beginnings[0]
            step: Step | None = first.ways[0].step
            number = partial.next_number
            while step is not None:
                number -= 1
                rows.append((*key, number, *step.row))
                step = step.previous
            for each in partial.beginnings:
                ways = [{"position": way.position, "path": _path(way.step)} for way in each.ways]
                complete = None if each.complete is None else _path(each.complete)
                beginnings.append((*key, each.number, each.time, complete, ways))
        return _table(rows, self.rows), _table(beginnings, self.beginnings)

    def _step(self, rows: dict[int, Row], number: int, path: bytes, shared: dict[bytes, Step]) -> Step:
        step: Step | None = None
        for end in range(4, len(path) + 1, 4):
            known = shared.get(path[:end])
            if known is None:
                variable = int.from_bytes(path[end - 4 : end], "little")
                row = rows[number + end // 4 - 1]
                known = shared[path[:end]] = Step(row, variable, step, self._variables)
            step = known
        assert step is not None  # a way has at least the row that it began with
        return step


def _path(step: Step) -> bytes:
    return b"".join(variable.to_bytes(4, "little") for variable in step.path())


def _tuples(table: pa.Table) -> Iterable[Row]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, f.type) for column, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
