"""Conversions of constants that cannot succeed: found before a row is read, because ANSI mode fails on them.

Source: Spark 4.2, `UTF8String.toLongExact`, `StringUtils.isTrueString`, `SparkDateTimeUtils.stringToDate` and
`parseTimestampString`. What is not certain is left to Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal

from compiler.plan import types as t
from compiler.plan.expr import Expr, Literal

_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_FLOATING = re.compile(rf"({_NUMBER.pattern})[dDfF]?|[+-]?(inf|infinity)|nan", re.IGNORECASE)
_BOOLEANS = frozenset({"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"})
_DATE = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_TIME = re.compile(r"[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?")
_MANY = Context(prec=1000)
# Words that a typed literal may be, such as DATE 'today'.
_MOMENTS = frozenset({"epoch", "now", "today", "tomorrow", "yesterday"})
_BITS: dict[t.DataType, int] = {t.TINYINT: 7, t.SMALLINT: 15, t.INT: 31, t.BIGINT: 63}


def conversion_problem(expr: Expr, target: t.DataType) -> str | None:
    """Why a constant cannot become a value of that type; None if it can, or if that is not certain."""
    if not isinstance(expr, Literal) or isinstance(expr.value, bool):
        return None
    if expr.type == t.STRING and isinstance(expr.value, str):
        return text_problem(expr.value, target)
    if t.is_numeric(expr.type) and isinstance(expr.value, (int, float)):
        return _number_problem(expr, target)
    return None


def moment_problem(value: str) -> str | None:
    """Why a text cannot be read as a time while a query runs; there, `now` and its like are none."""
    text = value.strip()
    return f"'{value}' is no time" if text.lower() in _MOMENTS else _timestamp_problem(text)


def text_problem(value: str, target: t.DataType) -> str | None:
    """Why a text cannot become a value of that type; None if it can, or if that is not certain."""
    text = value.strip()
    if t.is_integral(target):
        if not _WHOLE.fullmatch(text):
            return f"'{value}' is no whole number"
        return _range_problem(int(text), text, target)
    if isinstance(target, t.Decimal):
        return _digits_problem(text, target) if _NUMBER.fullmatch(text) else f"'{value}' is no number"
    check = _CHECKS.get(target) or (_timestamp_problem if isinstance(target, t.Timestamp) else None)
    return check(text) if check is not None else None


def _number_problem(expr: Literal, target: t.DataType) -> str | None:
    text = expr.sql.rstrip("LSYBDF") if not expr.sql.startswith("0x") else expr.sql
    if t.is_integral(target) and isinstance(expr.value, int):
        return _range_problem(expr.value, text, target)
    if isinstance(target, t.Decimal) and _NUMBER.fullmatch(text):
        return _digits_problem(text, target)
    return None


def _range_problem(number: int, text: str, target: t.DataType) -> str | None:
    bits = _BITS[target]
    return None if -(2**bits) <= number < 2**bits else f"{text} does not fit into {target}"


def _digits_problem(text: str, target: t.Decimal) -> str | None:
    number = Decimal(text)
    if abs(number.adjusted()) < _MANY.prec // 2:
        number = number.quantize(Decimal(1).scaleb(-target.scale), ROUND_HALF_UP, _MANY)
    fits = not number or number.adjusted() < target.precision - target.scale
    return None if fits else f"{text} does not fit into {target}"


def _floating_problem(text: str) -> str | None:
    return None if _FLOATING.fullmatch(text) else f"'{text}' is no number"


def _boolean_problem(text: str) -> str | None:
    return None if text.lower() in _BOOLEANS else f"'{text}' is neither true nor false"


def _date_problem(text: str) -> str | None:
    if text.lower() in _MOMENTS:
        return None
    match = _DATE.fullmatch(text)
    if match is None:
        return f"'{text}' is no date"
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    try:
        # Years beyond Python's have the same months.
        date(2000 + year % 400, month, day)
    except ValueError:
        return f"there is no date {text[:10]}"
    return None


def _timestamp_problem(text: str) -> str | None:
    if text.lower() in _MOMENTS or re.match(r"T?\d{1,2}:", text):
        return None
    problem = _date_problem(text)
    time = _TIME.search(text)
    if problem is not None or time is None:
        return problem and problem.replace("is no date", "is no time")
    hour, minute, second = (int(part or 0) for part in time.groups())
    return None if hour < 24 and minute < 60 and second < 60 else f"there is no time {time[0].strip(' T')}"


_CHECKS: dict[t.DataType, Callable[[str], str | None]] = {
    t.DOUBLE: _floating_problem,
    t.FLOAT: _floating_problem,
    t.BOOLEAN: _boolean_problem,
    t.DATE: _date_problem,
}
