"""Top-N and deduplication on a bucket, beside DuckDB over the rows that were not late."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from bucket_streams import INPUT, Epoch, query, run_stream, streams
from buckets import BucketDriver, MemoryStore, table
from hypothesis import given, settings

from runtime.spark.buckets.ordering import OrderBy, ranked
from runtime.spark.buckets.top_n import ChangingTopN, ClosedTopN, FirstByArrival, FirstByTime, Spec

WINDOW_MS = 30_000
WINDOWED = INPUT.append(pa.field("end", INPUT.field("ts").type))

BY_VALUE = Spec(
    INPUT, keys=("k",), order=(OrderBy("v", descending=True, nulls_first=False),), limit=2, rank="n", op="op"
)
FIRST = Spec(INPUT, keys=("k",), order=(OrderBy("ts"),), limit=1, time="ts")
LAST = Spec(INPUT, keys=("k",), order=(OrderBy("ts", descending=True),), limit=1, latest=True, op="op")

seeded = settings(derandomize=True, max_examples=40, deadline=None, database=None)


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return sorted(row["id"] for row in rows)


def end_of(row: tuple[Any, ...]) -> int:
    start: int = row[0] // WINDOW_MS * WINDOW_MS
    return start + WINDOW_MS


@seeded
@given(streams())
def test_first_rows_of_each_window(epochs: list[Epoch]) -> None:
    spec = Spec(
        WINDOWED,
        keys=("k", "end"),
        order=(OrderBy("v", descending=True, nulls_first=False), OrderBy("x")),
        limit=2,
        rank="n",
        time="end",
    )
    windowed = [[(*row, end_of(row)) for row in epoch] for epoch in epochs]
    ran = run_stream(lambda: ClosedTopN(spec), WINDOWED, windowed, late_by=end_of)
    expected = query(
        """SELECT id, n FROM (SELECT *, row_number() OVER (
            PARTITION BY k, "end" ORDER BY v DESC NULLS LAST, x NULLS FIRST, id) AS n FROM rows)
        WHERE n <= 2""",
        ran.on_time,
    )
    assert sorted((row["id"], row["n"]) for row in ran.all) == sorted(expected)


@seeded
@given(streams())
def test_first_row_by_event_time(epochs: list[Epoch]) -> None:
    ran = run_stream(lambda: FirstByTime(FIRST), INPUT, epochs)
    sql = "SELECT id FROM rows QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts, id) = 1"
    assert ids(ran.all) == sorted(row for (row,) in query(sql, ran.on_time))


@seeded
@given(streams())
def test_first_row_by_arrival(epochs: list[Epoch]) -> None:
    spec = replace(FIRST, time=None, order=())
    ran = run_stream(lambda: FirstByArrival(spec), INPUT, epochs)
    first: dict[Any, int] = {}
    for epoch in epochs:
        for row in epoch:
            first.setdefault(row[1], row[-1])
    assert ids(ran.all) == sorted(first.values())


@seeded
@given(streams())
def test_changes_end_in_the_first_rows_of_all(epochs: list[Epoch]) -> None:
    ran = run_stream(lambda: ChangingTopN(BY_VALUE), INPUT, epochs)
    rows: dict[tuple[Any, int], int] = {}
    for change in ran.all:
        key = (change["k"], change["n"])
        assert change["op"] == ("+U" if key in rows else "+I")
        assert rows.get(key) != change["id"], "a change that changes nothing"
        rows[key] = change["id"]
    everything = table(INPUT, [row for epoch in epochs for row in epoch])
    sql = """SELECT k, n, id FROM (SELECT *, row_number() OVER (
        PARTITION BY k ORDER BY v DESC NULLS LAST, id) AS n FROM rows) WHERE n <= 2"""
    assert rows == {(k, n): row for k, n, row in query(sql, everything)}


@seeded
@given(streams())
def test_last_row_by_event_time(epochs: list[Epoch]) -> None:
    ran = run_stream(lambda: ChangingTopN(LAST), INPUT, epochs)
    rows = {change["k"]: change["id"] for change in ran.all}
    everything = table(INPUT, [row for epoch in epochs for row in epoch])
    # Of rows of one time the one that came last is the newest that is known.
    sql = "SELECT k, id FROM rows QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts DESC, id DESC) = 1"
    assert rows == dict(query(sql, everything))


@pytest.mark.parametrize("make", [FirstByArrival, ChangingTopN])
def test_a_group_begins_anew_when_its_time_to_live_is_over(make: type) -> None:
    spec = replace(LAST, ttl_ms=1000)
    driver = BucketDriver(lambda: make(spec))
    row = (5_000, "a", 1, None, None)
    assert len(driver.epoch(table(INPUT, [(*row, 1)]))) == 1
    driver.processing_ms = 999
    second = driver.epoch(table(INPUT, [(*row, 2)]))
    assert [r["op"] for r in second] == (["+U"] if make is ChangingTopN else [])
    driver.processing_ms = 2000
    (third,) = driver.epoch(table(INPUT, [(*row, 3)]))
    assert third["id"] == 3
    assert third.get("op", "+I") == "+I"


def test_a_row_that_waits_outlives_its_time_to_live() -> None:
    driver = BucketDriver(lambda: FirstByTime(replace(FIRST, ttl_ms=1000)))
    driver.epoch(table(INPUT, [(50_000, "a", 1, None, None, 1)]))
    driver.processing_ms = 5000
    driver.epoch(table(INPUT, [(60_000, "a", 1, None, None, 2)]))
    assert ids(driver.epoch(watermark_ms=60_000)) == [1]
    driver.processing_ms = 9000
    driver.epoch(table(INPUT, [(70_000, "a", 1, None, None, 3)]), watermark_ms=60_001)
    assert ids(driver.epoch(watermark_ms=70_000)) == [3]


def test_what_changes_nothing_writes_nothing() -> None:
    driver = BucketDriver(lambda: ChangingTopN(LAST))
    driver.epoch(table(INPUT, [(50_000, "a", 1, None, None, 1)]))
    store: MemoryStore = driver.stores[0]
    store.written.clear()
    assert driver.epoch(table(INPUT, [(40_000, "a", 1, None, None, 2)])) == []
    assert store.written == []


def test_order_is_that_of_spark() -> None:
    nan = float("nan")
    values = pa.table({"x": pa.array([1.0, nan, None, -1.0]), "s": pa.array(["b", "B", None, "é"])})
    ascending = ranked(values, (), (OrderBy("x"),)).rows.tolist()
    descending = ranked(values, (), (OrderBy("x", descending=True, nulls_first=False),)).rows.tolist()
    assert (ascending, descending) == ([2, 3, 0, 1], [1, 0, 3, 2])
    assert ranked(values, (), (OrderBy("s", nulls_first=False),)).rows.tolist() == [1, 0, 3, 2]
