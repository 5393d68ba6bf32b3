"""Process functions by bucket: what lasts from epoch to epoch, beside what a unit test shows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from buckets import MOMENT, BucketDriver
from hypothesis import given, settings
from hypothesis import strategies as st
from test_process import BUNDLE, KEYS, OUTPUT, WORDS

import headrace
from compiler.jobplan.operators.base import Column, Item
from compiler.jobplan.operators.process import KeptState, Process
from runtime.functions.api import row_type
from runtime.functions.engine import FunctionFailure
from runtime.functions.operator import ProcessOperator


def process(**more: Any) -> Process:
    return Process(
        **{
            "id": "o1",
            "uid": "m.process",
            "inputs": ("o0",),
            "module": "talk",
            "function": "Silence",
            "arguments": {"minutes": 5},
            "key_columns": ("user",),
            "time_column": "at",
            "reads": tuple(Item(name, name) for name in ("user", "at", "word")),
            "output": tuple(
                Column(name, type_)
                for name, type_ in (("since", "TIMESTAMP"), ("words", "ARRAY<STRING>"), ("total", "BIGINT"))
            ),
            "states": (KeptState("words", "list", "STRING"),),
            "event_time": "since",
            "delay_ms": 0,
            "bundle": BUNDLE.digest,
            "buckets": 1,
            **more,
        }
    )


def words(*rows: tuple[str, int, str]) -> pa.Table:
    columns = [
        pa.array([user for user, _, _ in rows], pa.string()),
        pa.array([at * 1_000_000 for _, at, _ in rows], pa.int64()).cast(MOMENT),
        pa.array(
            [{"user": user, "at": datetime.fromtimestamp(at, UTC), "word": word} for user, at, word in rows],
            WORDS.field("__row").type,
        ),
    ]
    return pa.Table.from_arrays(columns, schema=WORDS)


def test_state_and_timers_last_from_epoch_to_epoch() -> None:
    driver = BucketDriver(lambda: ProcessOperator(process(), BUNDLE, KEYS, OUTPUT))
    assert driver.epoch(words(("ann", 20, "b"), ("ann", 10, "a"), ("bob", 5, "x"))) == []
    assert driver.epoch(words(("ann", 60, "c")), watermark_ms=20_000) == []
    assert driver.epoch(watermark_ms=305_000) == [
        {"__key_0": "bob", "since": datetime.fromtimestamp(5, UTC), "words": ["x"], "total": 1}
    ]
    assert driver.epoch(watermark_ms=360_000) == [
        {"__key_0": "ann", "since": datetime.fromtimestamp(60, UTC), "words": ["a", "b", "c"], "total": 3}
    ]
    (store,) = driver.stores.values()
    assert store.stored == {}


MIXED = process(
    function="Mixed",
    arguments={},
    event_time=None,
    output=(Column("what", "STRING"), Column("n", "BIGINT")),
    states=(KeptState("recent", "list", "STRING", 3_000), KeptState("counts", "map", "BIGINT", 10_000)),
)
COUNTS = pa.schema([("__key_0", pa.string()), ("what", pa.string()), ("n", pa.int64())])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(
                st.tuples(st.sampled_from("klmn"), st.integers(1, 20), st.sampled_from("abcd")), max_size=4
            ),
            st.integers(1, 6),
            st.integers(0, 6),
        ),
        max_size=8,
    )
)
def test_by_bucket_as_in_a_unit_test(epochs: list[tuple[list[tuple[str, int, str]], int, int]]) -> None:
    driver = BucketDriver(lambda: ProcessOperator(MIXED, BUNDLE, KEYS, COUNTS))
    tester = headrace.testing.ProcessTester(BUNDLE.load("talk", "Mixed")(), by=["user"], time="at")
    watermark = now = 0
    for rows, further, later in epochs:
        watermark, now = watermark + further, now + later
        driver.processing_ms = now * 1000
        found = driver.epoch(words(*rows), watermark_ms=watermark * 1000)
        tester.watermark, tester.now = (
            datetime.fromtimestamp(watermark, UTC),
            datetime.fromtimestamp(now, UTC),
        )
        in_order = sorted(rows, key=lambda row: row[1])
        events = [
            {"user": user, "at": datetime.fromtimestamp(at, UTC), "word": word} for user, at, word in in_order
        ]
        wanted = tester.feed(*events) + tester.advance()
        assert Counter((row["__key_0"], row["what"], row["n"]) for row in found) == Counter(
            (row["user"], row["what"], row["n"]) for row in wanted
        )


def test_keys_without_rows_are_left_alone_until_something_is_too_old() -> None:
    driver = BucketDriver(lambda: ProcessOperator(MIXED, BUNDLE, KEYS, COUNTS))
    names = [f"user {n}" for n in range(200)]
    driver.epoch(words(*((name, 1, "d") for name in names)), watermark_ms=1_000)
    (store,) = driver.stores.values()

    def kept() -> dict[str, tuple[bytes, int | None]]:
        tables = [pa.ipc.open_stream(data).read_all() for of, data in store.stored.items() if of[0] == "keys"]
        rows = pa.concat_tables(tables).to_pylist()
        return {row["__key_0"]: (row["state"], row["expires_ms"]) for row in rows}

    before = kept()
    assert {expires for _, expires in before.values()} == {3_000}
    driver.processing_ms = 2_000
    driver.epoch(words((names[0], 2, "d")), watermark_ms=2_000)
    after = kept()
    assert {name for name in names if after[name] != before[name]} == {names[0]}
    # What is too old goes with the next row of any key that is kept beside it.
    driver.processing_ms = 9_999
    driver.epoch(words(*((name, 3, "d") for name in names[:100])), watermark_ms=3_000)
    assert {expires for name, (_, expires) in kept().items() if name in names[100:]} == {10_000}


@pytest.mark.parametrize(("before", "after"), [(10_000, 2_000), (None, 2_000), (2_000, 10_000)])
def test_a_time_to_live_that_changes_counts_for_what_is_kept(before: int | None, after: int) -> None:
    """Longer, shorter or new: also for keys to which nothing happens."""
    store = None
    for ttl_ms, now, kept in (
        (before, 0, 100),
        (after, 1_000, 100),
        (after, 5_000, 100 if after > 5_000 else 0),
    ):
        states = (KeptState("counts", "map", "BIGINT", ttl_ms),)
        op = process(function="Counts", arguments={}, event_time=None, output=(), states=states)
        driver = BucketDriver(lambda op=op: ProcessOperator(op, BUNDLE, KEYS, KEYS))  # type: ignore[misc]
        driver.stores = {0: store} if store is not None else driver.stores
        driver.processing_ms = now
        names = [f"user {n}" for n in range(100)]
        # Later epochs have rows of others, one in each part.
        rows = names if now == 0 else [f"other {n}" for n in range(100)]
        driver.epoch(words(*((name, 1, "d") for name in rows)))
        store = driver.stores[0]
        tables = [pa.ipc.open_stream(data).read_all() for of, data in store.stored.items() if of[0] == "keys"]
        found = pa.concat_tables(tables).column("__key_0").to_pylist()
        assert len(set(found) & set(names)) == kept


def test_rows_of_the_same_columns_are_of_one_class() -> None:
    assert row_type(("a", "b")) is row_type(("a", "b"))


def test_an_error_of_the_function_names_it() -> None:
    driver = BucketDriver(lambda: ProcessOperator(process(), BUNDLE, KEYS, OUTPUT))
    broken = words(("ann", 20, "b")).set_column(
        2, "__row", pa.array([{"user": "ann"}], pa.struct([("user", pa.string())]))
    )
    with pytest.raises(FunctionFailure, match=r"m\.process: Silence: AttributeError: the row has no column"):
        driver.epoch(broken)


def test_output_that_was_not_declared_is_refused() -> None:
    op = process(output=(Column("since", "TIMESTAMP"),))
    output = pa.schema([("__key_0", pa.string()), ("since", MOMENT)])
    driver = BucketDriver(lambda: ProcessOperator(op, BUNDLE, KEYS, output))
    driver.epoch(words(("ann", 20, "b")))
    with pytest.raises(FunctionFailure, match="does not declare total, words"):
        driver.epoch(watermark_ms=900_000)


def test_equal_keys_have_one_state() -> None:
    """The two zeros and all NaNs, as Spark groups them, from epoch to epoch."""
    keys = pa.schema([("__key_0", pa.float64())])
    output = pa.schema([("__key_0", pa.float64()), ("what", pa.string()), ("n", pa.int64())])
    driver = BucketDriver(lambda: ProcessOperator(MIXED, BUNDLE, keys, output))
    nan = float("nan")
    rows = words(*(("", at, "d") for at in range(1, 5)))

    def epoch() -> list[tuple[str, int]]:
        given = rows.set_column(0, keys[0], pa.array([0.0, nan, -0.0, 5.0], pa.float64()))
        return [(repr(row["__key_0"]), row["n"]) for row in driver.epoch(given)]

    first = [("0.0", 1), ("0.0", 2), ("5.0", 1), ("nan", 1)]
    assert sorted(epoch()) == first
    rows = rows.take([2, 1, 0, 3])
    assert sorted(epoch()) == [("0.0", 3), ("0.0", 4), ("5.0", 2), ("nan", 2)]
