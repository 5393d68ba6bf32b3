"""State by bucket: the epoch of a bucket without Spark, and what it rests on with Spark."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from buckets import MOMENT, BucketDriver, MemoryStore, ms, table
from plans import put
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from compiler.jobplan.model import Sort
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks
from runtime.spark.buckets.lowering import bucketed, key_columns, order_columns, same_columns
from runtime.spark.buckets.ordering import greatest_of_groups, looked_up, sorted_by
from runtime.spark.buckets.packing import packer, unpacker
from runtime.spark.buckets.state import Head, StateError, to_bytes
from runtime.spark.context import event_time

# Workers cannot import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # theirs

ROWS = pa.schema([("ts", MOMENT), ("k", pa.string()), ("v", pa.int64())])
SLICE_MS = 10_000


class Delay(BucketOperator):
    """Hands each row on when the watermark has passed it, in slices of ten seconds."""

    tables = (StateTable("waiting", ROWS),)
    late_columns = ("ts",)

    def process(self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks) -> None:
        (rows,) = inputs
        times = _ms(rows)
        for number in pc.unique(pc.divide(times, SLICE_MS)).to_pylist():
            part = rows.filter(pc.equal(pc.divide(times, SLICE_MS), number))
            state.write("waiting", pa.concat_tables([state.read("waiting", number), part]), number)
        state.wake_by(pc.min(times).as_py())

    def expire(self, state: BucketState, watermarks: Watermarks) -> pa.Table:
        due = [ROWS.empty_table()]
        rest: list[int] = []
        for number in state.slices("waiting"):
            if number * SLICE_MS > watermarks.current_ms:
                rest.append(number * SLICE_MS)
                continue
            rows = state.read("waiting", number)
            passed = pc.less_equal(_ms(rows), watermarks.current_ms)
            due.append(rows.filter(passed))
            left = rows.filter(pc.invert(passed))
            state.write("waiting", left, number)
            if left.num_rows:
                rest.append(pc.min(_ms(left)).as_py())
        state.wake_ms = min(rest, default=None)
        return pa.concat_tables(due).sort_by("ts")


def _ms(rows: pa.Table) -> Any:
    return pc.divide(rows["ts"].cast(pa.int64()), 1000)


def values(rows: Sequence[dict[str, Any]]) -> list[int]:
    return [row["v"] for row in rows]


def test_rows_go_out_when_the_watermark_has_passed_them() -> None:
    driver = BucketDriver(Delay)
    assert driver.epoch(table(ROWS, [(5_000, "a", 1), (15_000, "a", 2), (7_000, "b", 3)])) == []
    assert values(driver.epoch(watermark_ms=4_999)) == []
    assert values(driver.epoch(watermark_ms=5_000)) == [1]
    assert values(driver.epoch(table(ROWS, [(6_000, "b", 4)]), watermark_ms=9_000)) == [4, 3]
    assert values(driver.epoch(watermark_ms=90_000)) == [2]


def test_late_is_what_the_watermark_of_the_epoch_before_has_passed() -> None:
    driver = BucketDriver(Delay)
    driver.epoch(table(ROWS, [(20_000, "a", 1)]))
    # The watermark has just reached 10 s: what it passed is complete in this epoch, and late in the next.
    assert values(driver.epoch(table(ROWS, [(8_000, "a", 2)]), watermark_ms=10_000)) == [2]
    late = table(ROWS, [(10_000, "a", 3), (10_001, "a", 4), (None, "a", 5)])
    assert values(driver.epoch(late, watermark_ms=12_000)) == [4]


def test_the_watermark_is_remembered_in_epochs_without_rows() -> None:
    driver = BucketDriver(Delay, buckets=2, bucket_of=lambda row: ord(row["k"]) % 2)
    driver.epoch(table(ROWS, [(20_000, "a", 1)]))
    driver.epoch(watermark_ms=10_000)
    driver.epoch(watermark_ms=10_001)
    # Bucket 0 has never had a row, yet knows what is late.
    assert values(driver.epoch(table(ROWS, [(10_001, "b", 2), (10_002, "b", 3)]), watermark_ms=11_000)) == [3]


def test_each_bucket_has_one_timer_just_ahead_of_the_watermark() -> None:
    driver = BucketDriver(Delay)
    for watermark in (0, 0, 7_000, 7_000, 9_000):
        driver.epoch(table(ROWS, [(8_500, "a", 1)]), watermark_ms=watermark)
        assert driver.stores[0].timers == {watermark + 1}


def test_only_slices_that_changed_are_written() -> None:
    driver = BucketDriver(Delay)
    driver.epoch(table(ROWS, [(5_000, "a", 1), (15_000, "a", 2), (25_000, "a", 3)]))
    store = driver.stores[0]
    store.written.clear()
    driver.epoch(table(ROWS, [(26_000, "a", 4)]), watermark_ms=6_000)
    assert store.written == [("waiting", 0), ("waiting", 2)]
    assert sorted(store.stored) == [("waiting", 1), ("waiting", 2)]


def test_state_of_another_version_is_refused() -> None:
    head = Head(version=1).to_bytes()
    with pytest.raises(StateError, match="version 1 cannot be read by version 2"):
        Head.from_bytes(head, 2)


def test_state_of_other_columns_is_refused() -> None:
    store = MemoryStore()
    state = BucketState(store, Head(1), Delay.tables)
    with pytest.raises(StateError, match=r"`waiting` has columns"):
        state.write("waiting", pa.table({"other": [1]}))
    state.write("waiting", table(ROWS, [(1, "a", 1)]))
    state.flush()
    narrower = (StateTable("waiting", pa.schema([("ts", MOMENT)])),)
    with pytest.raises(StateError, match="slice 0"):
        BucketState(store, Head(1, slices={"waiting": [0]}), narrower).read("waiting")


def test_large_slices_are_compressed_and_plain_ones_read_on() -> None:
    """An Arrow stream says itself whether it is compressed, so states of both kinds are read."""
    whole = StateTable("t", pa.schema([("n", pa.int64()), ("text", pa.string())]))
    rows = pa.table([np.arange(10_000), pa.array(["the same"] * 10_000)], schema=whole.schema)
    store, head = MemoryStore(), Head(1)
    state = BucketState(store, head, [whole])
    state.write("t", rows)
    state.flush()
    plain = to_bytes(rows)
    assert len(store.stored["t", 0]) < len(plain) / 2
    for data in (store.stored["t", 0], plain):
        store.stored["t", 0] = data
        assert BucketState(store, head, [whole]).read("t").equals(rows)


def test_packed_rows_keep_their_types_and_order() -> None:
    schema = pa.schema(
        [
            ("__bucket", pa.int32()),
            ("d", pa.decimal128(12, 2)),
            ("n", pa.int64()),
            ("s", pa.struct([("x", pa.int8())])),
        ]
    )
    rows = [
        {"__bucket": i % 3, "d": None if i == 4 else i, "n": 2**62 + i if i != 5 else None, "s": {"x": i}}
        for i in range(9)
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    packed = list(packer(3, 0)([batch]))
    # The empty values of the first task, and those of the rows.
    assert [b.column("__rows").null_count for b in packed] == [3, 0]
    emitted = [b.select(["__rows"]) for b in packed[1:]]
    plain = pa.schema([schema.field(i) for i in range(1, 4)])
    unpacked = pa.Table.from_batches(list(unpacker(plain)(emitted)))
    expected = [rows[i] for i in (0, 3, 6, 1, 4, 7, 2, 5, 8)]
    assert (
        unpacked.to_pylist()
        == pa.Table.from_pylist(expected, schema=schema).drop_columns(["__bucket"]).to_pylist()
    )


def test_between_two_window_aggregates(session: SparkSession, tmp_path: Path) -> None:
    """On a stream: after a window aggregate and before another, with its own late rows dropped."""
    epochs = (
        [(0, "a", 1), (9, "b", 2), (14, "a", 4)],
        [(21, "a", 8), (3, "b", 16)],
        [(4, "b", 32), (23, "b", 64), (40, "a", 128)],
        [(19, "b", 256)],
    )
    for number, rows in enumerate(epochs):
        texts = ((f"2024-01-01 00:00:{second:02}", k, v) for second, k, v in rows)
        put(tmp_path / "in", f"{number}.csv", *texts)
    # Other tests of this session run plans in other zones.
    session.conf.set("spark.sql.session.timeZone", "UTC")
    source = (
        session.readStream.name("orders")
        .schema("ts timestamp, k string, v bigint")
        .options(header=True, maxFilesPerTrigger=1)
        .csv(str(tmp_path / "in"))
        .withWatermark("ts", "2 seconds")
    )
    seconds = source.groupBy(F.window("ts", "1 second"), "k").agg(F.sum("v").alias("v"))
    times = (F.col("window.end") - F.expr("INTERVAL '0.001' SECOND")).alias("ts", metadata=event_time(2000))
    output = StructType(
        [StructField("ts", TimestampType()), StructField("k", StringType()), StructField("v", LongType())]
    )
    delayed = bucketed(Delay(), [(seconds.select(times, "k", "v"), [F.col("k")])], 4, output, {"ts": 2000})
    sums = delayed.groupBy(F.window("ts", "10 seconds")).agg(F.sum("v").alias("v"))
    got: list[tuple[int, int, int]] = []

    def collect(rows: DataFrame, epoch: int) -> None:
        found = rows.select(F.second("window.start"), "v").collect()
        got.extend((epoch, start, total) for start, total in sorted(tuple(row) for row in found))

    query = (
        sums.writeStream.foreachBatch(collect)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    # The watermark is 12 s after the first epoch, 19 s after the second, 38 s after the third. Row 4 s is
    # late in the third epoch; 19 s is judged by the watermark of the second, and its second ends after that.
    assert got == [(1, 0, 19), (3, 10, 260), (3, 20, 72)]


def test_head_is_small_and_plain() -> None:
    driver = BucketDriver(Delay)
    driver.epoch(table(ROWS, [(15_000, "a", 1)]), watermark_ms=3)
    stored = driver.stores[0].stored_head
    assert stored is not None
    assert json.loads(stored) == {
        "format": 1,
        "version": 1,
        "watermark_ms": 3,
        "timer_ms": 4,
        "wake_ms": 15_000,
        "slices": {"waiting": [1]},
    }
    assert ms(driver.epoch(watermark_ms=15_000)[0]["ts"]) == 15_000


def test_nested_keys_are_told_apart_by_microseconds(session: SparkSession) -> None:
    times = ["2024-10-27 00:30:00.000001Z", "2024-10-27 00:30:00.000002Z", "2024-10-27 01:30:00.000001Z"]
    rows = session.createDataFrame([(time,) for time in times], "text STRING").selectExpr(
        "named_struct('at', text::TIMESTAMP) AS zoned",
        "array(left(text, 26)::TIMESTAMP_NTZ) AS plain",
        "map('k', text::TIMESTAMP) AS named",
    )
    names, same = same_columns(rows.columns, rows)
    keys, named = key_columns(rows.columns, rows)
    found = rows.select(*same, *named).collect()
    assert [len({row[name] for row in found}) for name in (*names, *keys)] == [3] * 6


@pytest.mark.parametrize("scale", [1, 2**40])
def test_rows_are_sorted_and_looked_up_by_numbers_of_any_size(scale: int) -> None:
    random = np.random.default_rng(7)
    groups, order, down = (random.integers(0, 9, 500) * scale for _ in range(3))
    flags = random.integers(0, 2, 500).astype(np.bool_)
    expected = sorted(range(500), key=lambda row: (groups[row], flags[row], order[row], -down[row]))
    assert sorted_by(groups, flags, order - 4 * scale, ~down).tolist() == expected
    distinct = np.arange(0, 9, 2) * scale
    found = looked_up(groups, distinct, distinct + 1, -1)
    assert found.tolist() == [g + 1 if g // scale % 2 == 0 else -1 for g in groups.tolist()]
    greatest = {g: max(order[groups == g].tolist()) for g in groups.tolist()}
    assert greatest_of_groups(groups, order).tolist() == [greatest[g] for g in groups.tolist()]


def test_what_goes_along_anyway_needs_no_column_of_its_own(session: SparkSession) -> None:
    rows = session.createDataFrame([], "k BIGINT, `a b` STRING, `true` INT, l ARRAY<INT>")
    keys = ["k", "`a b`", "true", "`true`", "k + 1", "l", "K"]
    names, hidden = key_columns(keys, rows, rows.columns)
    assert names == ("k", "a b", "__key_2", "true", "__key_4", "__key_5", "__key_6")
    assert rows.select(*hidden).columns == ["__key_2", "__key_4", "__key_5", "__key_6"]
    by, more = order_columns([Sort("k", True, False), Sort("-k", False, True)], rows.columns)
    assert [order.column for order in by] == ["k", "__order_1"]
    assert rows.select(*more).columns == ["__order_1"]
