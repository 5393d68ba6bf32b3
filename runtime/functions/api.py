"""What users' Python functions are made of; imported as `headrace`.

    import headrace

    @headrace.scalar
    def fahrenheit(celsius: float) -> float:
        return celsius * 9 / 5 + 32

    @headrace.aggregate
    def weighted(price: float, qty: int) -> float:
        return (price * qty).sum() / qty.sum()

    class Silence(headrace.ProcessFunction):
        output = "since TIMESTAMP, seen BIGINT"
        seen = headrace.value_state("BIGINT", ttl="7 d")

        def process(self, row, ctx):
            self.seen.set((self.seen.get() or 0) + 1)
            ctx.cancel_event_timers()
            ctx.at_event_time(row.at + timedelta(minutes=5))

        def on_event_time(self, time, ctx):
            yield {"since": time, "seen": self.seen.get()}

The compiler reads names, types and states from the text of the file and does not run it. So `input`,
`output`, `event_time` and the arguments of states are literals.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, ClassVar, Generic, Protocol, TypeVar, overload

F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V")

Emitted = Iterable[Mapping[str, Any]] | None
"""Rows that a callback gives out: it may yield them, return a list, or return nothing."""


class Row(dict[str, Any]):
    """A row of the input: `row["price"]` or `row.price`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the row has no column `{name}`") from None


@lru_cache(maxsize=256)
def row_type(columns: tuple[str, ...]) -> type[Row]:
    """Rows of these columns, whose attributes are found without a detour."""
    names = [name for name in columns if not hasattr(Row, name)]
    return type("Row", (Row,), {name: property(itemgetter(name)) for name in names})


# --- functions in expressions -------------------------------------------------


@overload
def scalar(function: F) -> F: ...


@overload
def scalar(*, vectorized: bool = True, deterministic: bool = True) -> Callable[[F], F]: ...


def scalar(
    function: F | None = None, *, vectorized: bool = True, deterministic: bool = True
) -> F | Callable[[F], F]:
    """Makes a function callable in SQL expressions.

    Args:
        function: annotated with the types of a value; int is BIGINT, float DOUBLE, str STRING, and a text
            such as `"DECIMAL(10, 2)"` any SQL type.
        vectorized: whether it is called with pandas Series, which is quick; otherwise with one row's values.
        deterministic: whether the same arguments always give the same result.
    """
    del vectorized, deterministic  # the compiler reads them
    return (lambda decorated: decorated) if function is None else function


# --- functions of groups ------------------------------------------------------


@overload
def aggregate(function: F) -> F: ...


@overload
def aggregate(*, vectorized: bool = True, deterministic: bool = True) -> Callable[[F], F]: ...


def aggregate(
    function: F | None = None, *, vectorized: bool = True, deterministic: bool = True
) -> F | Callable[[F], F]:
    """Makes a function an aggregate: it is called once for each group, with the values of its rows.

    The values are in the order of event time, those of one time in their own order; NULLs are among them. A
    group that FILTER leaves without rows gives empty ones.

    Args:
        function: annotated with the type of one value for each argument, and with that of the result.
        vectorized: whether it is called with pandas Series; otherwise with lists.
        deterministic: whether the same values always give the same result.
    """
    del vectorized, deterministic  # the compiler reads them
    return (lambda decorated: decorated) if function is None else function


# --- state --------------------------------------------------------------------


class StateBackend(Protocol):
    """Where the states of the current key are; an entry is a name, a value and the time of writing."""

    @abstractmethod
    def get(self, state: str, name: Any, default: Any = None) -> Any:
        """The value of one entry, if it is not too old."""

    @abstractmethod
    def read(self, state: str) -> dict[Any, tuple[Any, int]]:
        """The entries that are not too old; a value has one, named None."""

    @abstractmethod
    def last(self, state: str) -> Any:
        """The name of the entry that was put last, or None if there is none; it may be too old."""

    @abstractmethod
    def write(self, state: str, entries: dict[Any, tuple[Any, int]]) -> None:
        """Replaces the entries."""

    @abstractmethod
    def put(self, state: str, name: Any, value: Any) -> None:
        """Sets one entry; a new one comes last."""

    @abstractmethod
    def remove(self, state: str, name: Any) -> None:
        """Removes one entry, if it is there."""

    @property
    @abstractmethod
    def now_ms(self) -> int:
        """The epoch's time in milliseconds."""


class _State:
    """A state of the current key; one object serves all keys."""

    def __init__(self, backend: StateBackend, name: str) -> None:
        self._backend = backend
        self._name = name

    def _read(self) -> dict[Any, tuple[Any, int]]:
        return self._backend.read(self._name)

    def _write(self, entries: dict[Any, tuple[Any, int]]) -> None:
        self._backend.write(self._name, entries)

    def clear(self) -> None:
        """Forgets it for this key."""
        self._write({})


class ValueState(_State, Generic[V]):
    """One value a key."""

    def get(self) -> V | None:
        """The value, or None."""
        found: V | None = self._backend.get(self._name, None)
        return found

    def set(self, value: V) -> None:
        """Replaces the value; its time to live begins anew."""
        self._backend.put(self._name, None, value)


class ListState(_State, Generic[V]):
    """A list of values a key; each has a time to live of its own."""

    def get(self) -> list[V]:
        """The values in the order in which they were added."""
        return [value for value, _ in self._read().values()]

    def add(self, value: V) -> None:
        """Appends a value."""
        last = self._backend.last(self._name)
        self._backend.put(self._name, 0 if last is None else last + 1, value)

    def set(self, values: Iterable[V]) -> None:
        """Replaces all values."""
        self._write({place: (value, self._backend.now_ms) for place, value in enumerate(values)})


class MapState(_State, Generic[V]):
    """A mapping a key; each entry has a time to live of its own."""

    def get(self, key: Any, default: V | None = None) -> V | None:
        """The value under a name."""
        found: V | None = self._backend.get(self._name, key, default)
        return found

    def put(self, key: Any, value: V) -> None:
        """Sets the value under a name."""
        self._backend.put(self._name, key, value)

    def remove(self, key: Any) -> None:
        """Forgets a name, if it is there."""
        self._backend.remove(self._name, key)

    def items(self) -> Iterator[tuple[Any, V]]:
        """Names and values, as they are now."""
        return iter([(name, value) for name, (value, _) in self._read().items()])

    def __contains__(self, key: object) -> bool:
        return key in self._read()

    def __len__(self) -> int:
        return len(self._read())


class Declared(Generic[V]):
    """A state as it is declared in a class. Whoever runs an object gives it the state itself."""

    def __init__(self, kind: type[Any], type_: str, ttl: str | None) -> None:
        self.kind = kind
        self.type = type_
        self.ttl = ttl
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: ProcessFunction | None, owner: type) -> Any:
        if instance is None:
            return self
        raise RuntimeError("state can be used in process and in timers only")

    def of(self, backend: StateBackend) -> Any:
        """The state of whichever key the backend is at."""
        return self.kind(backend, self.name)


def value_state(type_: str, *, ttl: str | None = None) -> Any:
    """A value a key, of a SQL type; forgotten if it was not set for `ttl`, such as `"1 d"`."""
    return Declared(ValueState, type_, ttl)


def list_state(type_: str, *, ttl: str | None = None) -> Any:
    """A list of values of a SQL type a key."""
    return Declared(ListState, type_, ttl)


def map_state(key_type: str, value_type: str, *, ttl: str | None = None) -> Any:
    """A mapping a key, from values of one SQL type to another's."""
    return Declared(MapState, f"MAP<{key_type}, {value_type}>", ttl)


# --- process functions --------------------------------------------------------


class Context(Protocol):
    """What a callback knows besides its row. Times are aware datetimes."""

    @property
    @abstractmethod
    def key(self) -> Row:
        """The columns of PARTITION BY."""

    @property
    @abstractmethod
    def timestamp(self) -> datetime | None:
        """The row's event time, or None if the input has none; in a timer, the time that it was set to."""

    @property
    @abstractmethod
    def watermark(self) -> datetime:
        """No row before it is expected any more."""

    @property
    @abstractmethod
    def now(self) -> datetime:
        """The epoch's time. A replay of the epoch has the same."""

    def at_event_time(self, time: datetime) -> None:
        """Has `on_event_time` called once the watermark has reached a time."""

    def at_processing_time(self, time: datetime) -> None:
        """Has `on_processing_time` called in the first epoch that runs at or after a time."""

    def cancel_event_timers(self, time: datetime | None = None) -> None:
        """Takes back a timer, or all of this key."""

    def cancel_processing_timers(self, time: datetime | None = None) -> None:
        """Takes back a timer, or all of this key."""


class ProcessFunction:
    """A function from rows to rows with state and timers for each key.

    Of an epoch's rows those of a key come in the order of event time. Class attributes:

    - `input`: the columns that it reads, as in `"user STRING, amount DOUBLE"`; all of the input if left out.
    - `output`: the columns that it gives besides those of PARTITION BY.
    - `event_time`: the column of `output` that is an event time, if one is.

    Arguments of `__init__` are named in the query: `f(TABLE t PARTITION BY k, threshold => 5)`.
    """

    input: ClassVar[str | None] = None
    output: ClassVar[str] = ""
    event_time: ClassVar[str | None] = None

    def process(self, row: Row, ctx: Context) -> Emitted:
        """A row has come."""
        raise NotImplementedError  # every process function has it

    def on_event_time(self, time: datetime, ctx: Context) -> Emitted:
        """The watermark has reached a time that `at_event_time` asked for."""
        del time, ctx
        return None

    def on_processing_time(self, time: datetime, ctx: Context) -> Emitted:
        """An epoch runs at or after a time that `at_processing_time` asked for."""
        del time, ctx
        return None
