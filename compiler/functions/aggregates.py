"""Aggregates: Spark 4.2, `catalyst.expressions.aggregate`.

`percentile_cont(p) WITHIN GROUP (ORDER BY x)` and `percentile_disc` are typed as (p, x), `mode() WITHIN GROUP
(ORDER BY x)` as (x): the ordered value comes last. That of `listagg` is no argument.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, aggregate
from compiler.functions.collections import FLOATS
from compiler.functions.rules import array_if, fields, same_as
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan import types as t

# Whose ORDER BY in WITHIN GROUP is an argument, the last.
ORDERED_VALUE = frozenset({"mode", "percentile_cont", "percentile_disc"})


def _decimal_up(found: t.Decimal, digits: int, scale: int) -> t.Decimal:
    # DecimalType.bounded: both are cut at 38, nothing is moved from one to the other.
    return t.Decimal(min(found.precision + digits, 38), min(found.scale + scale, 38))


def _sum(args: Sequence[Arg]) -> t.DataType:
    """Spark: `Sum.resultType`."""
    found = args[0].type
    if isinstance(found, t.Decimal):
        return _decimal_up(found, 10, 0)
    if isinstance(found, t.Interval):
        return found
    return t.BIGINT if t.is_integral(found) else t.DOUBLE


def _avg(args: Sequence[Arg]) -> t.DataType:
    """Spark: `Average.resultType`."""
    return _mean(args[0].type)


def _mean(found: t.DataType) -> t.DataType:
    if isinstance(found, t.Decimal):
        return _decimal_up(found, 4, 4)
    return _exact(found)


def _exact(found: t.DataType) -> t.DataType:
    if isinstance(found, t.Interval):
        return t.DAY_TIME if k.is_day_time(found) else t.YEAR_MONTH
    return t.DOUBLE


def _median(args: Sequence[Arg]) -> t.DataType:
    return _exact(args[0].type)


def _percentile_of_ordered(args: Sequence[Arg]) -> t.DataType:
    return _exact(args[1].type)


def _collected(args: Sequence[Arg]) -> t.DataType:
    return t.Array(args[0].type, False)


def _histogram(args: Sequence[Arg]) -> t.DataType:
    return t.Array(fields(("x", args[0].type, True), ("y", t.DOUBLE, True)))


def _listed(args: Sequence[Arg]) -> t.DataType:
    found = args[0].type
    if len(args) == 2 and args[1].type != found and not args[1].nullable:
        raise TypeProblem(f"the delimiter must be {found}, not {args[1].type}")
    return found


def _extreme_by(args: Sequence[Arg]) -> t.DataType:
    """The value, or with a number of them (the third argument) an array."""
    return t.Array(args[0].type) if len(args) == 3 else args[0].type


def _mean_of_x(args: Sequence[Arg]) -> t.DataType:
    return _mean(args[1].type)


def _of(text: str, *kinds: k.Kind) -> k.Kind:
    def cast(found: t.DataType) -> t.DataType | None:
        return next((result for kind in kinds if (result := kind.cast(found)) is not None), None)

    return k.Kind(text, cast)


_KEPT = same_as(0)
_FLAG = k.given(k.one_of("a BOOLEAN", t.BOOLEAN))
# Spark 4.2 takes a TIMESTAMP for a number here, in seconds.
_SUMMED = _of(
    "a number or an interval", k.NUMBER_OR_INTERVAL, k.where("", lambda a: isinstance(a, t.Timestamp))
)
_SPREAD = _of("a number, date, time or interval", k.NUMBER_OR_INTERVAL, k.where("", t.is_temporal))
_SHARE = k.given(
    _of(
        "a number or an ARRAY of them",
        k.NUMBER_ONLY,
        k.where("", lambda a: isinstance(a, t.Array) and t.is_numeric(a.element)),
    )
)
_FRACTION = k.given(k.where("a fraction", lambda a: a == t.DOUBLE or isinstance(a, t.Decimal)))
_NUMBERS = (k.DOUBLE, k.DOUBLE)
_SET = k.where(
    "a value without a MAP in it", lambda a: not k.holds(a, lambda b: isinstance(b, t.Map)), t.NULL
)
_TEXT_OR_BIN = k.constant(k.STR_OR_BIN)

TABLE: tuple[Row, ...] = (
    aggregate("any bool_and bool_or every some", k.BOOL, to=t.BOOLEAN),
    aggregate("any_value first first_value last last_value", k.ANY, _FLAG, to=_KEPT, optional=1),
    aggregate("approx_count_distinct", k.ANY, _FRACTION, to=t.BIGINT, optional=1, nulls=Nulls.NEVER),
    aggregate(
        "approx_percentile percentile_approx",
        _SPREAD,
        _SHARE,
        k.constant(k.INTEGRAL),
        to=array_if(1, _KEPT),
        optional=1,
    ),
    aggregate("array_agg collect_list", k.ANY, to=_collected, nulls=Nulls.NEVER),
    aggregate("avg mean try_avg", _SUMMED, to=_avg),
    aggregate("bit_and bit_or bit_xor", k.INTEGRAL, to=_KEPT),
    aggregate("collect_set", _SET, to=_collected, nulls=Nulls.NEVER),
    aggregate("corr covar_pop covar_samp", *_NUMBERS, to=t.DOUBLE),
    aggregate("count", k.ANY, to=t.BIGINT, rest=k.ANY, nulls=Nulls.NEVER),
    aggregate("count_if", k.BOOL, to=t.BIGINT, nulls=Nulls.NEVER),
    aggregate("histogram_numeric", _SPREAD, k.given(k.INT_ONLY), to=_histogram),
    aggregate(
        "kurtosis skewness std stddev stddev_pop stddev_samp var_pop var_samp variance", k.DOUBLE, to=t.DOUBLE
    ),
    aggregate("listagg string_agg", k.STR_OR_BIN, _TEXT_OR_BIN, to=_listed, optional=1),
    aggregate("max min", k.ORDERED, to=_KEPT),
    aggregate("max_by min_by", k.ANY, k.ORDERED, k.given(k.NUMBER_ONLY), to=_extreme_by, optional=1),
    aggregate("median", k.NUMBER_OR_INTERVAL, to=_median),
    aggregate("mode", k.ANY, _FLAG, to=_KEPT, optional=1),
    aggregate("percentile", k.NUMBER_OR_INTERVAL, _SHARE, k.INTEGRAL, to=array_if(1, _median), optional=1),
    aggregate(
        "percentile_cont percentile_disc",
        _SHARE,
        k.NUMBER_OR_INTERVAL,
        to=array_if(0, _percentile_of_ordered),
    ),
    aggregate("regr_avgx", k.NUMBER, k.NUMBER, to=_mean_of_x),
    aggregate("regr_avgy", k.NUMBER, k.NUMBER, to=_avg),
    aggregate("regr_count", *_NUMBERS, to=t.BIGINT, nulls=Nulls.NEVER),
    aggregate("regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy", *_NUMBERS, to=t.DOUBLE),
    aggregate("sum try_sum", _SUMMED, to=_sum),
    aggregate("vector_avg vector_sum", FLOATS, to=t.Array(t.FLOAT, False)),
    # `grouping` tells in ROLLUP, CUBE and GROUPING SETS which columns a row sums over.
    aggregate("grouping", k.ANY, to=t.TINYINT, nulls=Nulls.NEVER),
    aggregate("grouping_id", to=t.BIGINT, rest=k.ANY, nulls=Nulls.NEVER),
)
