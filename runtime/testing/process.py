"""Unit tests of process functions: rows in, rows out, and both clocks in the test's hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from runtime.functions.api import ProcessFunction, Row
from runtime.functions.engine import Engine, KeyState, Times, declared_states, drop_old

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d+)\s*(milli|ms|s|min|m|h|d)[a-z]*")


class ProcessTester:
    """Runs a process function without Spark.

        tester = headrace.testing.ProcessTester(Silence(), by=["user"], time="at")
        assert tester.feed({"user": "ann", "at": noon}) == []
        assert tester.advance(watermark=noon + timedelta(minutes=5)) == [{"user": "ann", ...}]

    Args:
        function: an object of the class.
        by: the columns of PARTITION BY.
        time: the column of the rows that is their event time.
    """

    def __init__(self, function: ProcessFunction, by: Iterable[str] = (), time: str | None = None) -> None:
        self._by = tuple(by)
        self._time = time
        states = declared_states(type(function))
        self._ttl_ms = {name: _duration(state.ttl) for name, state in states.items() if state.ttl is not None}
        self._engine = Engine(function, self._ttl_ms, None)
        self._states: dict[tuple[Any, ...], KeyState] = {}
        self.watermark = _EPOCH
        self.now = _EPOCH

    def feed(self, *rows: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Hands rows to the function, in this order, and gives what it gives out, with the key's columns."""
        found: list[dict[str, Any]] = []
        for row in rows:
            key = Row({name: row[name] for name in self._by})
            state = self._states.setdefault(tuple(key.values()), KeyState())
            time = _milliseconds(row[self._time]) if self._time is not None else None
            given = self._engine.rows(key, state, [(Row(row), time)], self._times())
            found += [{**key, **out} for out in given]
        return found

    def advance(
        self, *, watermark: datetime | None = None, now: datetime | None = None
    ) -> list[dict[str, Any]]:
        """Moves the clocks on, and gives what the timers give out."""
        self.watermark = max(self.watermark, watermark or self.watermark)
        self.now = max(self.now, now or self.now)
        found: list[dict[str, Any]] = []
        for values, state in self._states.items():
            key = Row(zip(self._by, values, strict=True))
            found += [{**key, **out} for out in self._engine.timers(key, state, self._times())]
            drop_old(state, self._ttl_ms, self._times().now_ms)
        self._states = {values: state for values, state in self._states.items() if not state.is_empty}
        return found

    @property
    def keys(self) -> list[tuple[Any, ...]]:
        """The keys that have state or timers."""
        return [values for values, state in self._states.items() if not state.is_empty]

    def _times(self) -> Times:
        return Times(int(_milliseconds(self.watermark)), int(_milliseconds(self.now)))


def _milliseconds(time: datetime) -> float:
    moment = time if time.tzinfo else time.replace(tzinfo=UTC)
    return (moment - _EPOCH) / timedelta(milliseconds=1)


def _duration(text: str) -> int:
    """Milliseconds of a time to live, as the compiler reads it."""
    parts = _DURATION.findall(text.lower())
    if not parts:
        raise ValueError(f"`{text}` is not a duration")
    return sum(int(number) * _UNITS["ms" if unit == "milli" else unit] for number, unit in parts)
