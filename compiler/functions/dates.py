"""Dates, times and intervals: Spark 4.2, `datetimeExpressions.scala`, `intervalExpressions.scala`.

`current_timestamp()` and its like are deterministic here: they give the epoch's logged time, at a replay too.
What gives a TIMESTAMP_NTZ (`localtimestamp`, `to_timestamp_ntz` …) or a TIME (off in Spark 4.2 unless
`spark.sql.timeType.enabled`) is left out: no pipeline can hold these types.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, Rule, forms, row, sig
from compiler.functions.rules import text
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan.types import (
    BIGINT,
    CALENDAR_INTERVAL,
    DATE,
    DAY_TIME,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TINYINT,
    YEAR_MONTH,
    DataType,
    Decimal,
    Interval,
    Timestamp,
    is_numeric,
    is_temporal,
)

_SECONDS = Decimal(8, 6)
# Spark: `DatePart.parseExtractField`, `ExtractIntervalPart.parseExtractField`.
_YEAR = frozenset(["YEAR", "Y", "YEARS", "YR", "YRS"])
_MONTH = frozenset(["MONTH", "MON", "MONS", "MONTHS"])
_DAY = frozenset(["DAY", "D", "DAYS"])
_HOUR = frozenset(["HOUR", "H", "HOURS", "HR", "HRS"])
_MINUTE = frozenset(["MINUTE", "M", "MIN", "MINS", "MINUTES"])
_SECOND = frozenset(["SECOND", "S", "SEC", "SECONDS", "SECS"])
_CALENDAR = frozenset(
    [
        "YEAROFWEEK",
        "QUARTER",
        "QTR",
        "WEEK",
        "W",
        "WEEKS",
        "DAYOFWEEK",
        "DOW",
        "DAYOFWEEK_ISO",
        "DOW_ISO",
        "DOY",
    ]
)
_OF_MOMENT = _YEAR | _MONTH | _DAY | _HOUR | _MINUTE | _SECOND | _CALENDAR


def _part(args: Sequence[Arg]) -> DataType:
    """The type of `date_part(field, source)`, which is `EXTRACT(field FROM source)`."""
    source = args[1].type
    if args[0].type == NULL:
        return DOUBLE
    field = text(args, 0, "the name of a field").upper()
    if is_temporal(source) or source in (STRING, NULL):
        if field in _OF_MOMENT:
            return _SECONDS if field in _SECOND else INT
    elif k.is_year_month(source) and field in _YEAR | _MONTH:
        return INT if field in _YEAR else TINYINT
    elif k.is_day_time(source) and field in _DAY | _HOUR | _MINUTE | _SECOND:
        return _SECONDS if field in _SECOND else INT if field in _DAY else TINYINT
    raise TypeProblem(f"{source} has no field {field}")


def _bucket(args: Sequence[Arg]) -> DataType:
    if not isinstance(args[0].type, Interval):
        raise TypeProblem(f"argument 1 must be an interval, not {args[0].type}")
    return TIMESTAMP


def _moment(index: int) -> Rule:
    """A TIMESTAMP of the precision of that argument."""

    def result(args: Sequence[Arg]) -> DataType:
        found = args[index].type
        return found if isinstance(found, Timestamp) else TIMESTAMP

    return result


# The epoch's time is logged in milliseconds, and this is what these functions give.
_MILLIS = Timestamp(3)
_ALWAYS = Nulls.ALWAYS
_NEVER = Nulls.NEVER
_NUMBERS = (k.INTEGER,) * 5
_FORMAT = k.STR
_UNIT = k.constant(k.TEXT)
# With a format, Spark 4.2 takes no number for the text that is read.
_READ = k.Kind("a STRING", lambda a: None if is_numeric(a) else k.STR.cast(a))

TABLE: tuple[Row, ...] = (
    row("add_months", k.DATE, k.INTEGER, to=DATE),
    row("curdate current_date", to=DATE, nulls=_NEVER),
    row("current_timestamp now", to=_MILLIS, nulls=_NEVER),
    row("date_add date_sub dateadd", k.DATE, k.DAYS, to=DATE),
    row("date_diff datediff", k.DATE, k.DATE, to=INT),
    row("date_format", k.TIMESTAMP, _FORMAT, to=STRING),
    row("date_from_unix_date", k.INTEGER, to=DATE),
    row("date_part datepart", k.constant(k.TEXT), k.ANY, to=_part),
    row("date_trunc", k.STR, k.TIMESTAMP, to=_moment(1), nulls=_ALWAYS),
    row("day dayofmonth dayofweek dayofyear month quarter weekday weekofyear year", k.DATE, to=INT),
    row("dayname monthname", k.DATE, to=STRING),
    row("from_unixtime", k.LONG, _FORMAT, to=STRING, optional=1, nulls=_ALWAYS),
    row("from_utc_timestamp to_utc_timestamp", k.TIMESTAMP, k.STR, to=_moment(0)),
    row("hour minute second", k.TIMESTAMP, to=INT),
    row("last_day", k.DATE, to=DATE),
    row("make_date", k.INTEGER, k.INTEGER, k.INTEGER, to=DATE),
    row("make_dt_interval", k.INTEGER, k.INTEGER, k.INTEGER, k.DOUBLE, to=DAY_TIME, optional=4),
    row("make_interval", k.INTEGER, *_NUMBERS, k.DOUBLE, to=CALENDAR_INTERVAL, optional=7),
    row("try_make_interval", k.INTEGER, *_NUMBERS, k.DOUBLE, to=CALENDAR_INTERVAL, optional=6, nulls=_ALWAYS),
    row("make_timestamp make_timestamp_ltz", *_NUMBERS, k.DOUBLE, k.STR, to=TIMESTAMP, optional=1),
    row(
        "try_make_timestamp try_make_timestamp_ltz",
        *_NUMBERS,
        k.DOUBLE,
        k.STR,
        to=TIMESTAMP,
        optional=1,
        nulls=_ALWAYS,
    ),
    row("make_ym_interval", k.INTEGER, k.INTEGER, to=YEAR_MONTH, optional=2),
    row("months_between", k.TIMESTAMP, k.TIMESTAMP, k.BOOL, to=DOUBLE, optional=1),
    row("next_day", k.DATE, k.STR, to=DATE, nulls=_ALWAYS),
    row(
        "time_bucket",
        k.constant(k.INTERVAL),
        k.TIMESTAMP_ONLY,
        k.constant(k.TIMESTAMP_ONLY),
        to=_bucket,
        optional=1,
    ),
    row("timestamp_micros", k.INTEGRAL, to=TIMESTAMP),
    row("timestamp_millis", k.INTEGRAL, to=_MILLIS),
    row("timestamp_seconds", k.NUMBER_ONLY, to=TIMESTAMP),
    row("timestampadd", _UNIT, k.LONG, k.TIMESTAMP, to=TIMESTAMP),
    row("timestampdiff", _UNIT, k.TIMESTAMP, k.TIMESTAMP, to=BIGINT),
    row("to_date", k.STR, _FORMAT, to=DATE, optional=1),
    row("try_to_date", k.STR, _FORMAT, to=DATE, optional=1, nulls=_ALWAYS),
    forms("to_timestamp to_timestamp_ltz", sig(k.STR, to=TIMESTAMP), sig(_READ, _FORMAT, to=TIMESTAMP)),
    forms("try_to_timestamp", sig(k.STR, to=TIMESTAMP), sig(_READ, _FORMAT, to=TIMESTAMP), nulls=_ALWAYS),
    row("to_unix_timestamp", k.TIMESTAMP, k.TEXT, to=BIGINT, optional=1),
    row("trunc", k.DATE, k.STR, to=DATE, nulls=_ALWAYS),
    row("unix_date", k.DATE_ONLY, to=INT),
    row("unix_micros unix_millis unix_seconds", k.TIMESTAMP_ONLY, to=BIGINT),
    row("unix_timestamp", k.TIMESTAMP, k.TEXT, to=BIGINT, optional=2),
)
