"""Process functions: state, timers and time to live, in a unit test."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from buckets import MOMENT

import headrace
from runtime.functions import engine
from runtime.functions.bundle import Bundle
from runtime.functions.engine import FunctionFailure

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


    class Counts(headrace.ProcessFunction):
        """How often a word was said."""

        output = ""
        counts = headrace.map_state("STRING", "BIGINT")

        def process(self, row, ctx):
            self.counts.put(row.word, self.counts.get(row.word, 0) + 1)
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


def test_a_timer_that_another_takes_back_does_not_fire() -> None:
    class Two(headrace.ProcessFunction):
        """Two timers, of which the first takes the other back."""

        output = "at TIMESTAMP"

        def process(self, row: headrace.Row, ctx: headrace.Context) -> None:
            ctx.at_processing_time(NOON)
            ctx.at_processing_time(NOON + MINUTE)

        def on_processing_time(self, time: datetime, ctx: headrace.Context) -> Iterator[dict[str, Any]]:
            ctx.cancel_processing_timers()
            yield {"at": time}

    tester = headrace.testing.ProcessTester(Two(), by=["k"])
    tester.feed({"k": 1})
    assert tester.advance(now=NOON + MINUTE) == [{"k": 1, "at": NOON}]


def test_a_value_is_added_to_a_list_without_reading_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Keeps(headrace.ProcessFunction):
        """Only adds."""

        words = headrace.list_state("STRING", ttl="1 h")

        def process(self, row: headrace.Row, ctx: headrace.Context) -> None:
            self.words.add(row.word)

    tester = headrace.testing.ProcessTester(Keeps(), by=["k"])
    tester.advance(now=NOON)
    with monkeypatch.context() as patched:
        patched.setattr(engine._Context, "read", None)
        assert tester.feed(*({"k": 1, "word": word} for word in "abc")) == []
    assert tester.keys == [(1,)]


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
