"""What an argument may be: the implicit casts of Spark's ANSI mode.

Source: Spark 4.2, `AnsiTypeCoercion.implicitCast` and `ExpectsInputTypes`; every kind was tried with a column
of each type through the analyzer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from compiler.plan import types as t

Cast = Callable[[t.DataType], t.DataType | None]


class Kind(NamedTuple):
    """An argument's wanted type.

    Args:
        text: what is wanted, for "must be …".
        cast: the type after the implicit cast, None if there is none.
        constant: it has to be known before a row is read (Spark: foldable).
    """

    text: str
    cast: Cast
    constant: bool = False


def is_day_time(found: t.DataType) -> bool:
    """Whether it is an interval of days to seconds."""
    return isinstance(found, t.Interval) and not found.unit.startswith(("YEAR", "MONTH"))


def is_year_month(found: t.DataType) -> bool:
    """Whether it is an interval of years and months."""
    return isinstance(found, t.Interval) and found.unit.startswith(("YEAR", "MONTH"))


def holds(found: t.DataType, test: Callable[[t.DataType], bool]) -> bool:
    """Whether a type, or one inside it, passes the test."""
    if test(found):
        return True
    if isinstance(found, t.Array):
        return holds(found.element, test)
    if isinstance(found, t.Map):
        return holds(found.key, test) or holds(found.value, test)
    return isinstance(found, t.Struct) and any(holds(field.type, test) for field in found.fields)


def _has_no_order(found: t.DataType) -> bool:
    return isinstance(found, t.Map) or found in (t.VARIANT, t.CALENDAR_INTERVAL)


def is_ordered(found: t.DataType) -> bool:
    """Whether its values can be compared and sorted: no map, VARIANT or calendar interval in it."""
    return not holds(found, _has_no_order)


def is_hashable(found: t.DataType) -> bool:
    """Whether `hash` takes it: no map or VARIANT in it."""
    return not holds(found, lambda inner: isinstance(inner, t.Map) or inner == t.VARIANT)


def constant(kind: Kind) -> Kind:
    """The same, known before a row is read."""
    return kind._replace(constant=True)


def given(kind: Kind) -> Kind:
    """The same, known before a row is read and not NULL."""
    return Kind(kind.text, lambda found: None if found == t.NULL else kind.cast(found), constant=True)


def one_of(text: str, *accepted: t.DataType, to: t.DataType | None = None) -> Kind:
    """One of these types or NULL, kept, or cast to `to`."""
    null = to or accepted[0]

    def cast(found: t.DataType) -> t.DataType | None:
        if found in accepted:
            return to or found
        return null if found == t.NULL else None

    return Kind(text, cast)


def where(text: str, test: Callable[[t.DataType], bool], null: t.DataType | None = None) -> Kind:
    """The types that pass a test, kept; an untyped NULL becomes `null`, or is refused."""

    def cast(found: t.DataType) -> t.DataType | None:
        if found == t.NULL:
            return null
        return found if test(found) else None

    return Kind(text, cast)


def _number_as(target: t.DataType) -> Cast:
    def cast(found: t.DataType) -> t.DataType | None:
        return target if t.is_numeric(found) or found in (t.STRING, t.NULL) else None

    return cast


def _to_string(found: t.DataType) -> t.DataType | None:
    return t.STRING if t.is_atomic(found) else None


def _number(found: t.DataType) -> t.DataType | None:
    if t.is_numeric(found):
        return found
    return t.DOUBLE if found in (t.STRING, t.NULL) else None


def _number_or_interval(found: t.DataType) -> t.DataType | None:
    return found if isinstance(found, t.Interval) else _number(found)


def _moment(target: t.DataType | None) -> Cast:
    def cast(found: t.DataType) -> t.DataType | None:
        if t.is_temporal(found):
            return target or found
        return (target or t.TIMESTAMP) if found in (t.STRING, t.NULL) else None

    return cast


def _string_without_binary(found: t.DataType) -> t.DataType | None:
    return None if found == t.BINARY else _to_string(found)


def _string_or_binary(found: t.DataType) -> t.DataType | None:
    return found if found == t.BINARY else _to_string(found)


ANY = Kind("any value", lambda found: found)
ORDERED = Kind("a value with an order (no map or VARIANT in it)", lambda a: a if is_ordered(a) else None)
HASHABLE = Kind("a value without a map or VARIANT in it", lambda a: a if is_hashable(a) else None)

BOOL = one_of("BOOLEAN", t.BOOLEAN, t.STRING, to=t.BOOLEAN)
CONDITION = one_of("BOOLEAN", t.BOOLEAN)

STR = Kind("a STRING", _to_string)  # whatever can be cast to one
TEXT = one_of("a STRING", t.STRING)  # and nothing else
STR_NOT_BIN = Kind("a STRING", _string_without_binary)
BIN = one_of("BINARY or a STRING", t.BINARY, t.STRING, to=t.BINARY)
BYTES = one_of("BINARY", t.BINARY)
BYTES_ONLY = where("BINARY", lambda found: found == t.BINARY)
STR_OR_BIN = Kind("a STRING or BINARY", _string_or_binary)

NUMBER = Kind("a number", _number)
DOUBLE = Kind("a number", _number_as(t.DOUBLE))
INTEGER = Kind("a number", _number_as(t.INT))
LONG = Kind("a number", _number_as(t.BIGINT))
NUMBER_ONLY = where("a number", t.is_numeric, t.DOUBLE)
NUMBER_OR_INTERVAL = Kind("a number or an interval", _number_or_interval)
INTEGRAL = where("a whole number", t.is_integral, t.INT)
DAYS = one_of("an INT", t.INT, t.SMALLINT, t.TINYINT, t.STRING, to=t.INT)  # BIGINT is refused
INT_ONLY = one_of("an INT", t.INT)

DATE = Kind("a DATE", _moment(t.DATE))
TIMESTAMP = Kind("a TIMESTAMP", _moment(t.TIMESTAMP))
MOMENT = Kind("a DATE or TIMESTAMP", _moment(None))
DATE_ONLY = one_of("a DATE", t.DATE)
TIMESTAMP_ONLY = where("a TIMESTAMP", lambda found: isinstance(found, t.Timestamp), t.TIMESTAMP)
INTERVAL = where("an interval", lambda found: isinstance(found, t.Interval), t.DAY_TIME)

ARRAY = where("an ARRAY", lambda found: isinstance(found, t.Array))
ARRAY_OR_NULL = where("an ARRAY", lambda found: isinstance(found, t.Array), t.Array(t.NULL))
ORDERED_ARRAY = where(
    "an ARRAY of values with an order", lambda found: isinstance(found, t.Array) and is_ordered(found.element)
)
MAP = where("a MAP", lambda found: isinstance(found, t.Map))
MAP_OR_NULL = where("a MAP", lambda found: isinstance(found, t.Map), t.Map(t.NULL, t.NULL))
ARRAY_OR_MAP = where("an ARRAY or a MAP", lambda found: isinstance(found, (t.Array, t.Map)))
STRUCT = where("a STRUCT", lambda found: isinstance(found, t.Struct), t.Struct(()))
VARIANT = one_of("a VARIANT", t.VARIANT)
OPTIONS = constant(
    where("a MAP of strings", lambda a: isinstance(a, t.Map) and (a.key, a.value) == (t.STRING, t.STRING))
)
