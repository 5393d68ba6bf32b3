"""Runs a process function on one key at a time: state, timers and time to live, without Spark."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import GeneratorType
from typing import Any

from msgspec import Struct, field

from runtime.functions.api import Declared, ProcessFunction, Row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class FunctionFailure(Exception):
    """A process function failed, or gave out what it did not declare."""


class KeyState(Struct, array_like=True):
    """What a key keeps: entries of states with the time of writing, and timers, in milliseconds."""

    entries: dict[str, dict[Any, tuple[Any, int]]] = field(default_factory=dict)
    event_timers: set[int] = field(default_factory=set)
    processing_timers: set[int] = field(default_factory=set)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has to be kept."""
        return not (self.entries or self.event_timers or self.processing_timers)


@dataclass(frozen=True, slots=True)
class Times:
    """The watermark and the epoch's logged time, in milliseconds."""

    watermark_ms: int
    now_ms: int


class Engine:
    """Runs one object of a process function on the keys that it is given.

    Args:
        function: the object.
        ttl_ms: time to live of the states that have one, by name.
        columns: of the output, without the key's.
    """

    def __init__(
        self, function: ProcessFunction, ttl_ms: Mapping[str, int], columns: tuple[str, ...] | None
    ) -> None:
        self._function = function
        self._context = _Context(ttl_ms)
        for name, state in declared_states(type(function)).items():
            function.__dict__[name] = state.of(self._context)
        self._columns = frozenset(columns) if columns is not None else None

    def rows(
        self, key: Row, state: KeyState, rows: Iterable[tuple[Row, float | None]], times: Times
    ) -> list[Mapping[str, Any]]:
        """Hands rows of a key with their times to the function and gives what it gives out."""
        context, process = self._context, self._function.process
        context.enter(key, state, times)
        emitted: list[Any] = []
        for row, context.time_ms in rows:
            given: Any = process(row, context)
            # Asking an abstract class takes long, and nearly all callbacks are generators.
            if given.__class__ is GeneratorType:
                emitted += given
            elif given is not None:
                emitted += _as_rows(given)
        return self._checked(emitted)

    def timers(self, key: Row, state: KeyState, times: Times) -> Iterator[Mapping[str, Any]]:
        """Calls the timers that are due, the earliest first; those that they set and are due as well."""
        context = self._context
        while state.event_timers and min(state.event_timers) <= times.watermark_ms:
            due = min(state.event_timers)
            state.event_timers.remove(due)
            context.enter(key, state, times, due, due)
            yield from self._checked(_as_rows(self._function.on_event_time(_moment(due), context)))
        # A timer for the same moment would fire for ever: those set now wait for the next epoch.
        for due in sorted(at for at in state.processing_timers if at <= times.now_ms):
            if due not in state.processing_timers:
                continue  # taken back by one before it
            state.processing_timers.remove(due)
            context.enter(key, state, times, due)
            yield from self._checked(_as_rows(self._function.on_processing_time(_moment(due), context)))

    def _checked(self, rows: list[Any]) -> list[Mapping[str, Any]]:
        for row in rows:
            if row.__class__ is not dict and not isinstance(row, Mapping):
                raise FunctionFailure(f"a row that is given out is a dict, not a {type(row).__name__}")
            if self._columns is not None and not row.keys() <= self._columns:
                unknown = ", ".join(sorted(row.keys() - self._columns))
                raise FunctionFailure(f"`output` does not declare {unknown}")
        return rows


class _Context:
    """The context of callbacks, and the states of whichever key it is at: one object serves all."""

    __slots__ = ("_entries", "_firing_ms", "_state", "_times", "_ttl_ms", "key", "now_ms", "time_ms")

    def __init__(self, ttl_ms: Mapping[str, int]) -> None:
        self._ttl_ms = ttl_ms
        self.enter(Row(), KeyState(), Times(0, 0))

    def enter(
        self,
        key: Row,
        state: KeyState,
        times: Times,
        time_ms: float | None = None,
        firing_ms: int | None = None,
    ) -> None:
        """Goes to a key, and to a time; `firing_ms` is that of the timer of event time that is called."""
        self.key = key
        self.now_ms = times.now_ms
        self.time_ms = time_ms
        self._state = state
        self._entries = state.entries
        self._times = times
        self._firing_ms = firing_ms

    @property
    def timestamp(self) -> datetime | None:
        return None if self.time_ms is None else _moment(self.time_ms)

    @property
    def watermark(self) -> datetime:
        return _moment(self._times.watermark_ms)

    @property
    def now(self) -> datetime:
        return _moment(self.now_ms)

    def at_event_time(self, time: datetime) -> None:
        at = _milliseconds(time)
        if self._firing_ms is not None and at <= self._firing_ms:
            raise FunctionFailure(
                "a timer set its own time, or an earlier one, again: it would fire for ever"
            )
        self._state.event_timers.add(at)

    def at_processing_time(self, time: datetime) -> None:
        self._state.processing_timers.add(_milliseconds(time))

    def cancel_event_timers(self, time: datetime | None = None) -> None:
        _cancel(self._state.event_timers, time)

    def cancel_processing_timers(self, time: datetime | None = None) -> None:
        _cancel(self._state.processing_timers, time)

    def get(self, state: str, name: Any, default: Any = None) -> Any:
        entries = self._entries.get(state)
        found = None if entries is None else entries.get(name)
        if found is None:
            return default
        ttl = self._ttl_ms.get(state) if self._ttl_ms else None
        return found[0] if ttl is None or self.now_ms - found[1] < ttl else default

    def read(self, state: str) -> dict[Any, tuple[Any, int]]:
        entries = self._entries.get(state, {})
        ttl = self._ttl_ms.get(state)
        if ttl is None:
            return entries
        return {name: entry for name, entry in entries.items() if self.now_ms - entry[1] < ttl}

    def last(self, state: str) -> Any:
        # One that is too old is as good: places only have to ascend.
        entries = self._entries.get(state)
        return next(reversed(entries)) if entries else None

    def write(self, state: str, entries: dict[Any, tuple[Any, int]]) -> None:
        if entries:
            self._entries[state] = entries
        else:
            self._entries.pop(state, None)

    def put(self, state: str, name: Any, value: Any) -> None:
        # Other entries that are too old are not seen by `read`, and dropped before the state is stored.
        entries = self._entries.get(state)
        if entries is None:
            entries = self._entries[state] = {}
        ttl = self._ttl_ms.get(state) if self._ttl_ms else None
        if ttl is not None and name in entries and self.now_ms - entries[name][1] >= ttl:
            del entries[name]
        entries[name] = (value, self.now_ms)

    def remove(self, state: str, name: Any) -> None:
        entries = self._entries.get(state)
        if entries is not None:
            entries.pop(name, None)
            if not entries:
                del self._entries[state]


def _as_rows(emitted: Any) -> list[Any]:
    """What a callback gives out: nothing, a row, or rows."""
    return [emitted] if isinstance(emitted, Mapping) else list(emitted or ())


def drop_old(state: KeyState, ttl_ms: Mapping[str, int], now_ms: int) -> None:
    """Forgets the entries whose time to live is over."""
    for name, ttl in ttl_ms.items():
        kept = {k: e for k, e in state.entries.get(name, {}).items() if now_ms - e[1] < ttl}
        if kept:
            state.entries[name] = kept
        else:
            state.entries.pop(name, None)


def expires_ms(state: KeyState, ttl_ms: Mapping[str, int]) -> int | None:
    """When the first entry's time to live is over."""
    written = [
        (min(at for _, at in entries.values()), ttl_ms[name])
        for name, entries in state.entries.items()
        if name in ttl_ms
    ]
    return min((at + ttl for at, ttl in written), default=None)


def declared_states(function: type[ProcessFunction]) -> dict[str, Declared[Any]]:
    """The states of a class, by name."""
    return {name: value for name, value in inspect.getmembers_static(function) if isinstance(value, Declared)}


def _cancel(timers: set[int], time: datetime | None) -> None:
    if time is None:
        timers.clear()
    else:
        timers.discard(_milliseconds(time))


def _moment(milliseconds: float) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND


def _milliseconds(time: datetime) -> int:
    """Whole milliseconds, rounded up; a time without a zone is one in UTC."""
    moment = time if time.tzinfo else time.replace(tzinfo=UTC)
    return -((_EPOCH - moment) // _MILLISECOND)
