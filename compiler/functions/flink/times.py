"""Dates and times: Flink's functions as Spark has them."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions.flink.spec import Asked, Rewrite, Test, is_moment, is_number, literal, rewrite
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t

_UNITS = ("MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
# What is added to the start of a unit to come to the next one.
_NEXT = {
    "WEEK": "INTERVAL '7' DAYS",
    "QUARTER": "INTERVAL '3' MONTHS",
    "MILLISECOND": "INTERVAL '0.001' SECONDS",
}


def _start(unit: str) -> str:
    # Weeks begin on Sunday in Flink, on Monday in Spark.
    if unit == "WEEK":
        return "date_trunc('WEEK', x + INTERVAL '1' DAY) - INTERVAL '1' DAY"
    return f"date_trunc('{unit}', x)"


def _unit(args: Sequence[Arg]) -> str:
    unit = literal(args, 1, "a unit").upper()
    if unit not in _UNITS:
        raise TypeProblem(f"`{unit}` is none of {', '.join(_UNITS)}")
    return unit


def _as_argument(sql: str, args: Sequence[Arg]) -> str:
    return f"CAST({sql} AS DATE)" if args[0].type == t.DATE else sql


def _floor(asked: Asked) -> str:
    return _as_argument(_start(_unit(asked.args)), asked.args)


def _ceil(asked: Asked) -> str:
    args = asked.args
    unit = _unit(args)
    start, step = _start(unit), _NEXT.get(unit, f"INTERVAL '1' {unit}")
    return _as_argument(f"if({start} = x, CAST(x AS TIMESTAMP), {start} + {step})", args)


def _precision(wanted: int) -> Test:
    return lambda args: t.is_numeric(args[0].type) and args[1].literal == wanted


_CONVERTED = "date_format(from_utc_timestamp(to_utc_timestamp(s, a), b), 'yyyy-MM-dd HH:mm:ss')"

TABLE: tuple[Rewrite, ...] = (
    rewrite("ceil(x, unit)", _ceil, fits=is_moment(0)),
    rewrite("floor(x, unit)", _floor, fits=is_moment(0)),
    rewrite("convert_tz(s, a, b)", _CONVERTED),
    rewrite("current_row_timestamp()", "current_timestamp()", differs="the time of the epoch"),
    rewrite("localtimestamp()", "current_timestamp()", differs="the time of the epoch"),
    rewrite("to_timestamp_ltz(n)", "timestamp_millis(CAST(n AS BIGINT))", fits=is_number(0)),
    rewrite("to_timestamp_ltz(n, p)", "timestamp_seconds(n)", fits=_precision(0)),
    rewrite("to_timestamp_ltz(n, p)", "timestamp_millis(CAST(n AS BIGINT))", fits=_precision(3)),
    rewrite("week(d)", "weekofyear(d)"),
)
