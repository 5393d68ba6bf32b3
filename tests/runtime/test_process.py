"""Process functions: state, timers and time to live, in a unit test and by bucket."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from buckets import MOMENT, BucketDriver
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace
from compiler.jobplan.operators.base import Column, Item
from compiler.jobplan.operators.process import KeptState, Process
from runtime.functions.bundle import Bundle
from runtime.functions.engine import FunctionFailure
from runtime.functions.operator import ProcessOperator

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)

SOURCE = textwrap.dedent(
    '''
    from datetime import timedelta

    import headrace
    from helpers import LONG


    class Silence(headrace.ProcessFunction):
        """Tells when a user has said nothing for some minutes, and what he said before."""

        output = "since TIMESTAMP, words ARRAY<STRING>, total BIGINT"
        event_time = "since"

        words = headrace.list_state("STRING")
        counts = headrace.map_state("STRING", "BIGINT")
        last = headrace.value_state("TIMESTAMP")

        def __init__(self, minutes=LONG):
            self.minutes = minutes

        def process(self, row, ctx):
            self.words.add(row.word)
            self.counts.put(row.word, self.counts.get(row.word, 0) + 1)
            if self.last.get() is None or row.at > self.last.get():
                self.last.set(row.at)
                ctx.cancel_event_timers()
                ctx.at_event_time(row.at + timedelta(minutes=self.minutes))

        def on_event_time(self, time, ctx):
            total = sum(count for _, count in self.counts.items())
            yield {"since": self.last.get(), "words": self.words.get(), "total": total}
            self.words.clear()
            self.counts.clear()
            self.last.clear()


    class Mixed(headrace.ProcessFunction):
        """All kinds of state, with and without a time to live, and timers of both clocks."""

        output = "what STRING, n BIGINT"

        total = headrace.value_state("BIGINT")
        recent = headrace.list_state("STRING", ttl="3 s")
        counts = headrace.map_state("STRING", "BIGINT", ttl="10 s")

        def process(self, row, ctx):
            self.total.set((self.total.get() or 0) + 1)
            self.recent.add(row.word)
            self.counts.put(row.word, self.counts.get(row.word, 0) + 1)
            if row.word == "a":
                ctx.at_event_time(row.at + timedelta(seconds=3))
            if row.word == "b":
                ctx.at_processing_time(ctx.now + timedelta(seconds=4))
            if row.word == "c":
                self.total.clear()
                ctx.cancel_event_timers()
            yield {"what": "row", "n": self.total.get()}

        def on_event_time(self, time, ctx):
            yield {"what": "event", "n": len(self.recent.get())}

        def on_processing_time(self, time, ctx):
            yield {"what": "processing", "n": sum(count for _, count in self.counts.items())}
    '''
)
BUNDLE = Bundle((("helpers.py", "LONG = 5\n"), ("talk.py", SOURCE)))


class Once(headrace.ProcessFunction):
    """Lets a key through once a day, by the epoch's clock."""

    output = "first STRING"
    seen = headrace.value_state("BOOLEAN", ttl="1 d")

    def process(self, row: headrace.Row, ctx: headrace.Context) -> Iterator[dict[str, Any]]:
        if not self.seen.get():
            self.seen.set(True)
            yield {"first": row.word}


class Reminder(headrace.ProcessFunction):
    """Reminds of a key some time later, whatever its rows say."""

    output = "word STRING"
    word = headrace.value_state("STRING")

    def process(self, row: headrace.Row, ctx: headrace.Context) -> None:
        self.word.set(row.word)
        ctx.at_processing_time(ctx.now + MINUTE)

    def on_processing_time(self, time: datetime, ctx: headrace.Context) -> list[dict[str, Any]]:
        return [{"word": self.word.get()}]


def test_event_time_timers_and_all_states() -> None:
    tester = headrace.testing.ProcessTester(BUNDLE.load("talk", "Silence")(), by=["user"], time="at")
    assert (
        tester.feed(
            {"user": "ann", "at": NOON, "word": "so"},
            {"user": "bob", "at": NOON, "word": "hm"},
            {"user": "ann", "at": NOON + 3 * MINUTE, "word": "so"},
        )
        == []
    )
    assert tester.advance(watermark=NOON + 5 * MINUTE) == [
        {"user": "bob", "since": NOON, "words": ["hm"], "total": 1}
    ]
    assert tester.keys == [("ann",)]
    assert tester.advance(watermark=NOON + 8 * MINUTE) == [
        {"user": "ann", "since": NOON + 3 * MINUTE, "words": ["so", "so"], "total": 2}
    ]
    assert tester.keys == []


def test_time_to_live() -> None:
    tester = headrace.testing.ProcessTester(Once(), by=["k"])
    tester.advance(now=NOON)
    assert tester.feed({"k": 1, "word": "a"}, {"k": 1, "word": "b"}) == [{"k": 1, "first": "a"}]
    tester.advance(now=NOON + timedelta(hours=23))
    assert tester.feed({"k": 1, "word": "c"}) == []
    tester.advance(now=NOON + timedelta(hours=24))
    assert tester.keys == []
    assert tester.feed({"k": 1, "word": "d"}) == [{"k": 1, "first": "d"}]


class Latest(headrace.ProcessFunction):
    """Keeps words for an hour, and changes a map while it looks through it."""

    output = "words ARRAY<STRING>, names ARRAY<STRING>"
    words = headrace.list_state("STRING", ttl="1 h")
    counts = headrace.map_state("STRING", "BIGINT", ttl="1 h")

    def process(self, row: headrace.Row, ctx: headrace.Context) -> list[dict[str, Any]]:
        self.words.add(row.word)
        self.counts.put(row.word, 0)
        for word, count in self.counts.items():
            self.counts.put(word, count + 1)
            if count == 2:
                self.counts.remove(word)
                self.counts.put(word + "!", 0)
        return [{"words": self.words.get(), "names": [name for name, _ in self.counts.items()]}]


def test_entries_have_a_time_to_live_and_an_order_of_their_own() -> None:
    tester = headrace.testing.ProcessTester(Latest(), by=["k"])
    tester.advance(now=NOON)
    tester.feed({"k": 1, "word": "a"}, {"k": 1, "word": "b"})
    tester.advance(now=NOON + 30 * MINUTE)
    (found,) = tester.feed({"k": 1, "word": "c"})
    assert found == {"k": 1, "words": ["a", "b", "c"], "names": ["b", "c", "a!"]}
    # Without a step of the clock between: what is too old is still there, but not seen.
    tester.now = NOON + 60 * MINUTE
    (found,) = tester.feed({"k": 1, "word": "a"})
    assert found["words"] == ["c", "a"]
    tester.now = NOON + 120 * MINUTE
    assert [row["words"] for row in tester.feed({"k": 1, "word": "d"}, {"k": 1, "word": "e"})] == [
        ["d"],
        ["d", "e"],
    ]


def test_processing_time_timers() -> None:
    tester = headrace.testing.ProcessTester(Reminder(), by=["k"])
    tester.advance(now=NOON)
    tester.feed({"k": 1, "word": "a"})
    assert tester.advance(now=NOON + MINUTE / 2) == []
    assert tester.advance(now=NOON + MINUTE) == [{"k": 1, "word": "a"}]


def test_a_timer_that_sets_itself_again_is_refused() -> None:
    class Loop(headrace.ProcessFunction):
        def process(self, row: headrace.Row, ctx: headrace.Context) -> None:
            ctx.at_event_time(NOON)

        def on_event_time(self, time: datetime, ctx: headrace.Context) -> None:
            ctx.at_event_time(time)

    tester = headrace.testing.ProcessTester(Loop(), by=["k"])
    tester.feed({"k": 1})
    with pytest.raises(FunctionFailure, match="fire for ever"):
        tester.advance(watermark=NOON)


# --- by bucket --------------------------------------------------------------

WORDS = pa.schema(
    [
        ("__key_0", pa.string()),
        ("__time", MOMENT),
        ("__row", pa.struct([("user", pa.string()), ("at", MOMENT), ("word", pa.string())])),
    ]
)
KEYS = pa.schema([("__key_0", pa.string())])
OUTPUT = pa.schema(
    [("__key_0", pa.string()), ("since", MOMENT), ("words", pa.list_(pa.string())), ("total", pa.int64())]
)


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
