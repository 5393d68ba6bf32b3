"""Patterns of dates and times (`yyyy-MM-dd`) that Spark refuses, whatever it is to write or read.

Source: Spark 4.2, `DateTimeFormatterHelper.convertIncompatiblePattern`, and `DateTimeFormatterBuilder` of
Java 17 to 21. What is not certain is left to Spark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_WEEKS: Final = frozenset("YWwuec")
_REFUSED: Final = frozenset("ABnNp")
_NOT_READ: Final = frozenset("EFqQ")
# `g` is known to Java from 19 on.
_KNOWN: Final = frozenset("GyDMLdQqEFaghHkKmsSVzOXxZv")
# How often a letter may stand in a row.
_MOST: Final[Mapping[str, int]] = {
    **dict.fromkeys("GMLEQq", 4),
    **dict.fromkeys("dhHkKms", 2),
    **dict.fromkeys("XxZ", 5),
    "y": 10,
    "D": 3,
    "a": 1,
    "F": 1,
    "S": 9,
    "z": 4,
}
_EXACT: Final[Mapping[str, tuple[int, ...]]] = {"V": (2,), "O": (1, 4), "v": (1, 4)}
DATETIME_FIX: Final = "write for example yyyy-MM-dd'T'HH:mm:ss; weeks are told by extract(WEEK FROM t)"
_RUN = re.compile(r"([A-Za-z])\1*")
_RESERVED = re.compile(r"[{}#]")


def datetime_problem(pattern: str, reading: bool) -> str | None:
    """Why a pattern cannot be used to read or to write times; None if it can, or if that is not certain."""
    # Every second part stands in quotes, and '' is one of them.
    parts = pattern.split("'")
    if len(parts) % 2 == 0:
        return f"`{pattern}` has a quote (') that is not closed"
    plain = "'".join(parts[::2])
    for run in _RUN.finditer(plain):
        problem = _letter_problem(run[1], len(run[0]), reading)
        if problem is not None:
            return f"{problem} in `{pattern}`"
    reserved = _RESERVED.search(plain)
    if reserved is not None:
        return f"`{reserved[0]}` stands without quotes in `{pattern}`"
    depth = 0
    for mark in re.findall(r"[\[\]]", plain):
        depth += 1 if mark == "[" else -1
        if depth < 0:
            return f"`]` stands without `[` in `{pattern}`"
    return None


def _letter_problem(letter: str, count: int, reading: bool) -> str | None:
    if letter in _WEEKS:
        return f"Spark takes no letter `{letter}`, which goes by weeks,"
    if letter in _REFUSED:
        return f"Spark takes no letter `{letter}`"
    if reading and letter in _NOT_READ:
        return f"Spark reads no letter `{letter}`"
    if letter not in _KNOWN:
        return f"there is no letter `{letter}` of a date or time"
    if count > _MOST.get(letter, count) or count not in _EXACT.get(letter, (count,)):
        return f"`{letter}` stands {count} times in a row"
    return None
