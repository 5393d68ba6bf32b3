"""Moves the watermark of a silent source on, so that it does not hold the others' windows open for ever.

A query's watermark is the least of its sources'. A source that has been silent for its `idle_timeout` is
given, through its control source, the event time that brings its watermark up to that of the slowest source
that is not idle. If all are idle nothing moves, as in Flink: no rows, no time.

What comes while an epoch runs, or before the next trigger, waits and is not seen. So a source has been silent
only until Spark has last looked at it: at the begin of an epoch, or at a trigger that found nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from compiler.jobplan.model import Query, Watermark
from runtime.spark.control import control_folder, move_on
from runtime.spark.counters import SeenTimes


@dataclass
class _Source:
    """What is known of a source: when rows were last found (s), and its greatest event time (ms) so far."""

    delay_ms: int
    timeout_ms: int | None
    last_rows: float
    greatest_ms: int | None = None

    @property
    def watermark_ms(self) -> int | None:
        """The watermark that this source alone would give."""
        return None if self.greatest_ms is None else self.greatest_ms - self.delay_ms


class IdleWatch:
    """Watches the sources of one running query.

    Args:
        query: the query.
        folder: its folder in the state root.
        clock: seconds that only go forward.
    """

    def __init__(self, query: Query, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._folder = folder
        now = clock()
        self._interval_s = (query.trigger_ms or 0) / 1000
        # When all sources were last looked at, and when an epoch was last known to run.
        self._looked = self._ran = now
        self._sources = {
            op.source: _Source(op.delay_ms, op.idle_timeout_ms, now)
            for op in query.operators
            if isinstance(op, Watermark)
        }

    def saw(self, times: Iterable[SeenTimes], begun_ago_s: float = 0.0) -> None:
        """Takes in what an epoch saw, which began so many seconds ago."""
        self._ran = self._clock()
        begun = self._ran - begun_ago_s
        self._looked = max(self._looked, begun)
        for seen in times:
            source = self._sources.get(seen.source)
            if source is None or not seen.rows:
                continue
            source.last_rows = begun
            if seen.greatest_ms is not None:
                source.greatest_ms = max(seen.greatest_ms, source.greatest_ms or seen.greatest_ms)

    def move(self, running: bool = False) -> None:
        """Moves the sources that are idle now up to the slowest one that is not.

        Args:
            running: whether an epoch runs, or has ended and `saw` has not been told of it.
        """
        now = self._clock()
        if running:
            self._ran = now
        elif now - self._interval_s >= self._ran:
            self._looked = max(self._looked, now - self._interval_s)
        idle = {name for name, source in self._sources.items() if _is_idle(source, self._looked)}
        marks = [source.watermark_ms for name, source in self._sources.items() if name not in idle]
        known = [mark for mark in marks if mark is not None]
        if not idle or not known or len(known) != len(marks):
            return
        for name in sorted(idle):
            source = self._sources[name]
            wanted = min(known) + source.delay_ms
            if source.greatest_ms is None or wanted > source.greatest_ms:
                move_on(control_folder(self._folder, name), wanted)
                source.greatest_ms = wanted


def needs_watch(query: Query) -> bool:
    """Whether a source of the query has an idle timeout."""
    return any(isinstance(op, Watermark) and op.idle_timeout_ms is not None for op in query.operators)


def _is_idle(source: _Source, looked: float) -> bool:
    return source.timeout_ms is not None and (looked - source.last_rows) * 1000 >= source.timeout_ms
