"""Functions OVER rows on a bucket, beside DuckDB over the rows that were not late."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from bucket_streams import INPUT, Epoch, query, run_stream, streams
from buckets import BucketDriver, ms, table
from hypothesis import given, settings

from runtime.spark.buckets.over import Function, OverRows, Spec

BIGINT, DOUBLE = pa.int64(), pa.float64()

# Name of the result -> (function, argument, type, its SQL).
FUNCTIONS: dict[str, tuple[str, str, pa.DataType, str]] = {
    "sum_v": ("sum", "v", BIGINT, "sum(v)"),
    "sum_x": ("sum", "x", DOUBLE, "sum(x)"),
    "sum_d": ("sum", "d", pa.decimal128(20, 2), "sum(d)"),
    "avg_v": ("avg", "v", DOUBLE, "avg(v)"),
    "avg_x": ("avg", "x", DOUBLE, "avg(x)"),
    "count_v": ("count", "v", BIGINT, "count(v)"),
    "count_all": ("count", "id", BIGINT, "count(*)"),
    "min_v": ("min", "v", BIGINT, "min(v)"),
    "max_x": ("max", "x", DOUBLE, "max(x)"),
    "max_d": ("max", "d", pa.decimal128(10, 2), "max(d)"),
    "first_v": ("first_value", "v", BIGINT, "first_value(v)"),
    "last_v": ("last_value", "v", BIGINT, "last_value(v)"),
}
FRAMES: dict[str, tuple[Any, int | None, str]] = {
    "range": ("range", 25_000, "RANGE BETWEEN INTERVAL 25 SECOND PRECEDING AND CURRENT ROW"),
    "peers": ("range", 0, "RANGE BETWEEN CURRENT ROW AND CURRENT ROW"),
    "rows": ("rows", 2, "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
    "all_rows": ("rows", None, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    "all_range": ("range", None, "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
}

seeded = settings(derandomize=True, max_examples=30, deadline=None, database=None)


def schema_of(functions: list[Function]) -> pa.Schema:
    """The input with a column for each argument, as the lowering makes them."""
    args = (pa.field(fn.arg, INPUT.field(FUNCTIONS[fn.name][1]).type) for fn in functions)
    return pa.schema([*INPUT, *args])


def with_arguments(functions: list[Function], rows: pa.Table) -> pa.Table:
    for function in functions:
        rows = rows.append_column(function.arg, rows.column(FUNCTIONS[function.name][1]))
    return rows


def equal(got: dict[int, tuple[Any, ...]], expected: dict[int, tuple[Any, ...]]) -> None:
    assert got.keys() == expected.keys()
    for key, row in expected.items():
        assert got[key] == pytest.approx(row, nan_ok=True), key


@pytest.mark.parametrize("frame", FRAMES)
@seeded
@given(streams())
def test_frames(frame: str, epochs: list[Epoch]) -> None:
    unit, preceding, sql = FRAMES[frame]
    functions = [
        Function(name, function, f"__arg_{i}", type_, unit, preceding)
        for i, (name, (function, _, type_, _)) in enumerate(FUNCTIONS.items())
        # The last value of rows of one time is that of the last to come, which DuckDB's order has not.
        if not (name in ("first_v", "last_v") and unit == "range")
    ]
    spec = Spec(schema_of(functions), ("k",), "ts", tuple(functions))
    ran = run_stream(
        lambda: OverRows(spec), INPUT, epochs, prepare=lambda rows: with_arguments(functions, rows)
    )
    order = "ts, id" if unit == "rows" else "ts"
    columns = ", ".join(
        f"{FUNCTIONS[f.name][3]} OVER (PARTITION BY k ORDER BY {order} {sql}) AS {f.name}" for f in functions
    )
    expected = {key: tuple(row) for key, *row in query(f"SELECT id, {columns} FROM rows", ran.on_time)}
    equal({row["id"]: tuple(row[f.name] for f in functions) for row in ran.all}, expected)


@seeded
@given(streams())
def test_lag_and_row_number(epochs: list[Epoch]) -> None:
    copies = {"v1": "v", "v2": "v", "other": "id", "one": "id"}
    schema = pa.schema([*INPUT, *(pa.field(name, BIGINT) for name in copies)])
    functions = (
        Function("lag_1", "lag", "v1", BIGINT, "rows", 1, 1),
        Function("lag_2", "lag", "v2", BIGINT, "rows", 2, 2, default="other"),
        Function("n", "row_number", "one", pa.int32()),
    )
    spec = Spec(schema, ("k",), "ts", functions)

    def prepare(rows: pa.Table) -> pa.Table:
        for name, source in copies.items():
            rows = rows.append_column(name, rows.column(source))
        return rows

    ran = run_stream(lambda: OverRows(spec), INPUT, epochs, prepare=prepare)
    sql = """SELECT id, lag(v) OVER w, lag(v, 2, id) OVER w, row_number() OVER w FROM rows
        WINDOW w AS (PARTITION BY k ORDER BY ts, id)"""
    expected = {key: tuple(row) for key, *row in query(sql, ran.on_time)}
    equal({row["id"]: (row["lag_1"], row["lag_2"], row["n"]) for row in ran.all}, expected)


@seeded
@given(streams())
def test_rows_go_out_once_in_the_order_of_time(epochs: list[Epoch]) -> None:
    function = Function("n", "count", "id", BIGINT, "range", 0)
    spec = Spec(INPUT, ("k",), "ts", (function,))
    ran = run_stream(lambda: OverRows(spec), INPUT, epochs)
    for key in (None, "a"):
        times = [ms(row["ts"]) for row in ran.all if row["k"] == key]
        assert times == sorted(times)
    assert sorted(row["id"] for row in ran.all) == sorted(ran.on_time.column("id").to_pylist())


def test_nan_and_infinity_leave_a_frame_that_they_have_left() -> None:
    function = Function("s", "sum", "x", DOUBLE, "range", 1_000)
    spec = Spec(INPUT, ("k",), "ts", (function,))
    driver = BucketDriver(lambda: OverRows(spec))
    values = [1.0, float("nan"), float("inf"), 2.0, 0.1]
    rows = [(1000 + 2000 * i, "a", None, x, None, i) for i, x in enumerate(values)]
    driver.epoch(table(INPUT, rows))
    got = [row["s"] for row in driver.epoch(watermark_ms=99_000)]
    assert got[0] == 1.0
    assert got[3:] == [2.0, 0.1]


def test_average_of_decimals_is_rounded_half_up() -> None:
    function = Function("m", "avg", "d", pa.decimal128(14, 6), "rows", None)
    driver = BucketDriver(lambda: OverRows(Spec(INPUT, ("k",), "ts", (function,))))
    values = ["0.01", "0.01", "-0.03", None, "2.00", "-99.99", "98.01"]
    rows = [(1000 * i, "a", None, None, d and Decimal(d), i) for i, d in enumerate(values, 1)]
    driver.epoch(table(INPUT, rows))
    got = [str(row["m"]) for row in driver.epoch(watermark_ms=99_000)]
    assert got == ["0.010000", "0.010000", "-0.003333", "-0.003333", "0.497500", "-19.600000", "0.001667"]


def test_what_no_row_can_reach_is_forgotten() -> None:
    function = Function("s", "sum", "v", BIGINT, "range", 60_000)
    spec = Spec(INPUT, ("k",), "ts", (function,))
    driver = BucketDriver(lambda: OverRows(spec))
    driver.epoch(table(INPUT, [(10_000, "a", 1, None, None, 1), (300_000, "a", 1, None, None, 2)]))
    driver.epoch(watermark_ms=100_000)
    assert ("past", 0) in driver.stores[0].stored
    driver.epoch(watermark_ms=300_000)
    assert [key for key in driver.stores[0].stored if key[0] == "past"] == [("past", 5)]


def test_a_partition_begins_anew_when_its_time_to_live_is_over() -> None:
    functions = (
        Function("total", "sum", "v", BIGINT),
        Function("before", "lag", "id", BIGINT, "rows", 1, 1),
    )
    driver = BucketDriver(lambda: OverRows(Spec(INPUT, ("k",), "ts", functions, ttl_ms=1000)))

    def epoch(at: int, number: int) -> tuple[Any, Any]:
        driver.epoch(table(INPUT, [(at, "a", 1, None, None, number)]))
        (row,) = driver.epoch(watermark_ms=at)
        return row["total"], row["before"]

    assert epoch(10_000, 1) == (1, None)
    driver.processing_ms = 900
    assert epoch(20_000, 2) == (2, 1)
    driver.processing_ms = 5_000
    assert epoch(30_000, 3) == (1, None)
