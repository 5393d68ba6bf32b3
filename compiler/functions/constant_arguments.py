"""Constant arguments with which a call fails on every row, or gives NULL on every row.

A line of `CHECKS` is a function with the place of the argument and what looks at it. Source: Spark 4.2,
`DateTimeUtils.parseTruncLevel`, `getDayOfWeekFromString` and `getZoneId`, `CharsetProvider`, `Sha2`,
`NumberConverter`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from compiler.diagnostics.suggest import did_you_mean
from compiler.functions.text_patterns import like_problem, regex_problem
from compiler.plan import types as t
from compiler.syntax.datetime_patterns import DATETIME_FIX, datetime_problem

FAILS: Final = "it fails on every row"
NULL: Final = "it is NULL on every row"

Value = str | int


class Problem(NamedTuple):
    """What is wrong with a constant, what comes of it, and how to mend it."""

    message: str
    cause: str
    fix: str | None = None


class Check(NamedTuple):
    """What looks at an argument.

    Args:
        place: of the argument, from 0.
        problem: says what is wrong with a value.
        of: the types of the first argument for which it holds; None is any.
        of_calls: the number of arguments for which it holds; None is any.
    """

    place: int
    problem: Callable[[Value], Problem | None]
    of: Callable[[t.DataType], bool] | None = None
    of_calls: int | None = None


_DATE_UNITS: Final = ("YEAR", "YYYY", "YY", "QUARTER", "MONTH", "MON", "MM", "WEEK")
_TIME_UNITS: Final = (*_DATE_UNITS, "DAY", "DD", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
_DAYS: Final = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_CHARSETS: Final = ("us-ascii", "iso-8859-1", "utf-8", "utf-16be", "utf-16le", "utf-16", "utf-32")
_BITS: Final = (0, 224, 256, 384, 512)
# `ZoneId.SHORT_IDS` of Java.
_SHORT_ZONES: Final = frozenset(
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT EST HST IET IST JST MIT MST NET NST PLT PNT PRT PST "
    "SST VST UT Z".split()
)
_OFFSET = re.compile(r"(UTC|GMT|UT)?[+-]\d.*")


def _one_of(
    what: str, words: tuple[str, ...], comes: str, also: frozenset[str] = frozenset()
) -> Callable[[Value], Problem | None]:
    known = frozenset(word.lower() for word in words) | also

    def problem(value: Value) -> Problem | None:
        if not isinstance(value, str) or value.strip().lower() in known:
            return None
        near = did_you_mean(value, [word.lower() for word in words])
        return Problem(f"`{value}` is no {what}", comes, near or f"it is one of {', '.join(words)}")

    return problem


def _zone(value: Value) -> Problem | None:
    if not isinstance(value, str) or value in _SHORT_ZONES or _OFFSET.match(value) or _is_zone(value):
        return None
    # Without the list of zones there is no judging.
    if not _is_zone("Europe/Berlin"):
        return None
    import zoneinfo

    near = did_you_mean(value, zoneinfo.available_timezones())
    return Problem(f"unknown time zone `{value}`", FAILS, near or "use a name such as `Europe/Berlin`")


@lru_cache(maxsize=64)
def _is_zone(name: str) -> bool:
    import zoneinfo

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _written(value: Value) -> Problem | None:
    return _pattern(value, reading=False)


def _read(value: Value) -> Problem | None:
    return _pattern(value, reading=True)


def _pattern(value: Value, reading: bool) -> Problem | None:
    found = datetime_problem(value, reading) if isinstance(value, str) else None
    return None if found is None else Problem(found, FAILS, DATETIME_FIX)


def like(value: Value, escape: str = "\\") -> Problem | None:
    """A pattern of LIKE."""
    found = like_problem(value, escape) if isinstance(value, str) else None
    return None if found is None else Problem(found, FAILS, "write the escape character twice for itself")


def regex(value: Value) -> Problem | None:
    """A regular expression."""
    found = regex_problem(value) if isinstance(value, str) else None
    return None if found is None else Problem(found, FAILS, "write \\\\ before a sign that stands for itself")


def _not_zero(value: Value) -> Problem | None:
    return Problem("there is no place 0", FAILS, "places begin with 1") if value == 0 else None


def _bits(value: Value) -> Problem | None:
    if isinstance(value, str) or value in _BITS:
        return None
    return Problem(f"there is no hash of {value} bits", NULL, f"it is one of {', '.join(map(str, _BITS))}")


def _base(value: Value) -> Problem | None:
    if isinstance(value, str) or 2 <= abs(value) <= 36:
        return None
    return Problem(f"there are no numbers of base {value}", NULL, "bases are those from 2 to 36")


def _is_text(found: t.DataType) -> bool:
    return found == t.STRING


def _is_array(found: t.DataType) -> bool:
    return isinstance(found, t.Array)


def _named(names: str, *checks: Check) -> dict[str, tuple[Check, ...]]:
    return dict.fromkeys(names.split(), checks)


CHECKS: Final[Mapping[str, tuple[Check, ...]]] = {
    **_named("date_trunc", Check(0, _one_of("unit of time", _TIME_UNITS, NULL))),
    **_named("trunc", Check(1, _one_of("unit of dates", _DATE_UNITS, NULL))),
    **_named(
        "next_day",
        Check(1, _one_of("day of the week", _DAYS, FAILS, frozenset(d[:n] for d in _DAYS for n in (2, 3)))),
    ),
    **_named("date_format from_unixtime", Check(1, _written)),
    **_named(
        "to_date to_timestamp to_timestamp_ltz to_unix_timestamp unix_timestamp",
        Check(1, _read, _is_text),
    ),
    **_named("from_utc_timestamp to_utc_timestamp", Check(1, _zone)),
    **_named("decode encode", Check(1, _one_of("charset", _CHARSETS, FAILS), of_calls=2)),
    **_named("like ilike", Check(1, like, of_calls=2)),
    **_named(
        "rlike regexp regexp_like regexp_count regexp_extract regexp_extract_all regexp_instr regexp_replace "
        "regexp_substr split",
        Check(1, regex),
    ),
    **_named("element_at try_element_at", Check(1, _not_zero, _is_array)),
    **_named("elt", Check(0, _not_zero)),
    **_named("split_part", Check(2, _not_zero)),
    **_named("sha2", Check(1, _bits)),
    **_named("conv", Check(1, _base), Check(2, _base)),
}
"""By the name of a function."""
