"""The temporal join without Spark: against one that looks at every version for every row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from buckets import MOMENT, BucketDriver, table
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.spark.buckets.state import StateTable
from runtime.spark.buckets.temporal_join import MATCHED, VERSIONS, TemporalJoinOperator

ROWS = pa.schema([("id", pa.int64()), ("ts", MOMENT), ("k", pa.string()), ("n", pa.int64())])
HISTORY = pa.schema(
    [("rate", pa.int64()), ("since", MOMENT), ("op", pa.string()), ("k", pa.string()), ("n", pa.int64())]
)

Row = tuple[int, int, str | None, int]
Version = tuple[int, int, str, str | None, int]

_key = st.sampled_from(["a", "b", None])
_time = st.integers(0, 30)
_epoch = st.tuples(
    st.lists(st.tuples(_time, _key), max_size=4),
    st.lists(st.tuples(_time, st.sampled_from(["+I", "+U", "-D"]), _key), max_size=4),
    st.integers(0, 8),
)


def make(outer: bool = True, operation: str | None = "op") -> TemporalJoinOperator:
    return TemporalJoinOperator(ROWS, HISTORY, ["k", "n"], "ts", "since", operation, outer)


def expected(epochs: list[tuple[list[Row], list[Version], int]], outer: bool) -> list[tuple[Any, ...]]:
    """What comes out, by looking at everything."""
    waiting: list[Row] = []
    versions: list[Version] = []
    out: list[tuple[Any, ...]] = []
    late = current = 0
    for rows, history, moved in epochs:
        late, current = current, current + moved
        waiting += [row for row in rows if row[1] > late]
        versions += history
        for row in [row for row in waiting if row[1] <= current]:
            waiting.remove(row)
            valid = [v for v in versions if v[3:] == row[2:] and row[2] is not None and v[1] <= row[1]]
            # Of one time the one that came last.
            last = max(enumerate(valid), key=lambda i: (i[1][1], i[0]), default=(0, None))[1]
            if last is not None and last[2] == "-D":
                last = None
            if outer or last is not None:
                out.append((row[0], last[0] if last is not None else None, last is not None))
    return out


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(_epoch, min_size=1, max_size=8), st.booleans())
def test_as_if_every_version_were_kept(drawn: list[Any], outer: bool) -> None:
    number = 0
    epochs: list[tuple[list[Row], list[Version], int]] = []
    for rows, history, moved in drawn:
        numbered: list[Row] = []
        versions: list[Version] = []
        for ts, k in rows:
            number += 1
            numbered.append((number, ts, k, ts % 2))
        for since, op, k in history:
            number += 1
            versions.append((number, since, op, k, since % 2))
        epochs.append((numbered, versions, moved))
    driver = BucketDriver(lambda: make(outer))
    got: list[tuple[Any, ...]] = []
    watermark = 0
    for rows, history, moved in epochs:
        watermark += moved
        emitted = driver.epoch(table(ROWS, rows), table(HISTORY, history), watermark_ms=watermark)
        got += [(row["id"], row["rate"], row[MATCHED]) for row in emitted]
    # The late filter rests on the watermark of the epoch before.
    assert sorted(got, key=repr) == sorted(expected(epochs, outer), key=repr)


def test_versions_that_no_row_can_ask_for_are_forgotten() -> None:
    driver = BucketDriver(make)

    def kept() -> list[int]:
        store = driver.stores[0]
        data = store.stored.get((VERSIONS, 0))
        return [] if data is None else pa.ipc.open_stream(data).read_all().column("rate").to_pylist()

    history = [(1, 1, "+I", "a", 0), (2, 5, "+U", "a", 0), (3, 9, "+U", "a", 0), (4, 2, "+I", "b", 0)]
    driver.epoch(ROWS.empty_table(), table(HISTORY, history))
    assert kept() == [1, 2, 3, 4]
    # A row that waits for time 6 still asks for version 2, and none can ask for version 1.
    driver.epoch(table(ROWS, [(10, 6, "a", 0)]), table(HISTORY, [(5, 11, "+U", "b", 0)]), watermark_ms=5)
    assert kept() == [2, 3, 4, 5]
    driver.epoch(ROWS.empty_table(), table(HISTORY, [(6, 12, "-D", "b", 0)]), watermark_ms=12)
    # The pruning of this epoch saw the row that waited; the next one does not.
    driver.epoch(ROWS.empty_table(), table(HISTORY, [(7, 20, "+I", "c", 0)]), watermark_ms=13)
    assert kept() == [3, 6, 7]


def test_a_version_in_state_keeps_its_columns() -> None:
    assert list(make().tables) == [StateTable("pending", ROWS), StateTable(VERSIONS, HISTORY)]
