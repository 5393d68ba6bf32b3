"""Types of arithmetic in ANSI mode: what the operators and the functions that stand for them give.

Source: Spark 4.2, `resultDecimalType` of `Add`, `Multiply`, `Divide`, `Remainder` in `arithmetic.scala`, and
`BinaryArithmeticWithDatetimeResolver`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from compiler.functions.kinds import is_day_time, is_year_month
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t

_DAY = t.Interval("DAY")
_DAYS: tuple[t.DataType, ...] = (t.TINYINT, t.SMALLINT, t.INT)


class _Op(NamedTuple):
    name: str
    decimals: Callable[[t.Decimal, t.Decimal], t.Decimal]
    times: Callable[[t.DataType, t.DataType], t.DataType | None]
    fractions: bool = False  # `/` gives a DOUBLE for whole numbers


def add(args: Sequence[Arg]) -> t.DataType:
    """Type of `a + b`."""
    return _result(_ADD, args[0], args[1])


def subtract(args: Sequence[Arg]) -> t.DataType:
    """Type of `a - b`."""
    return _result(_SUBTRACT, args[0], args[1])


def multiply(args: Sequence[Arg]) -> t.DataType:
    """Type of `a * b`."""
    return _result(_MULTIPLY, args[0], args[1])


def divide(args: Sequence[Arg]) -> t.DataType:
    """Type of `a / b`."""
    return _result(_DIVIDE, args[0], args[1])


def remainder(args: Sequence[Arg]) -> t.DataType:
    """Type of `a % b`."""
    return _result(_REMAINDER, args[0], args[1])


def whole_division(args: Sequence[Arg]) -> t.DataType:
    """Type of `a DIV b`."""
    a, b = args[0].type, args[1].type
    spans = (is_day_time(a) and is_day_time(b)) or (is_year_month(a) and is_year_month(b))
    if not spans and _result(_REMAINDER, args[0], args[1]) in (t.FLOAT, t.DOUBLE) and t.STRING not in (a, b):
        raise TypeProblem(f"DIV is not defined for {a} and {b}")
    return t.BIGINT


def _result(op: _Op, left: Arg, right: Arg) -> t.DataType:
    found = op.times(left.type, right.type)
    if found is not None:
        return found
    a, b = _number(op, left.type, right.type), _number(op, right.type, left.type)
    if t.DOUBLE in (a, b) or t.FLOAT in (a, b):
        return t.FLOAT if a == b == t.FLOAT and not op.fractions else t.DOUBLE
    if isinstance(a, t.Decimal) or isinstance(b, t.Decimal):
        return op.decimals(_digits(left, a), _digits(right, b))
    return t.DOUBLE if op.fractions else max(a, b, key=t.INTEGRAL.index)


def _number(op: _Op, own: t.DataType, other: t.DataType) -> t.DataType:
    if t.is_numeric(own):
        return own
    if own == t.STRING and (t.is_numeric(other) or (other == t.NULL and op.fractions)):
        # A string becomes BIGINT next to a whole number, DOUBLE next to any other number.
        return t.BIGINT if t.is_integral(other) else t.DOUBLE
    if own == t.NULL and (t.is_numeric(other) or other == t.NULL):
        return other if t.is_numeric(other) else t.DOUBLE
    raise TypeProblem(f"`{op.name}` is not defined for {own} and {other}")


def _digits(arg: Arg, found: t.DataType) -> t.Decimal:
    """The decimal that an operand counts as: a literal has its own digits, a column its type's."""
    if t.is_integral(found) and isinstance(arg.literal, int):
        return t.Decimal(len(str(abs(arg.literal))), 0)
    result = t.as_decimal(found)
    assert result is not None  # floating point was handled
    return result


def _sum(a: t.Decimal, b: t.Decimal) -> t.Decimal:
    scale = max(a.scale, b.scale)
    return t.decimal(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)


def _product(a: t.Decimal, b: t.Decimal) -> t.Decimal:
    return t.decimal(a.precision + b.precision + 1, a.scale + b.scale)


def _quotient(a: t.Decimal, b: t.Decimal) -> t.Decimal:
    scale = max(6, a.scale + b.precision + 1)
    return t.decimal(a.precision - a.scale + b.scale + scale, scale)


def _rest(a: t.Decimal, b: t.Decimal) -> t.Decimal:
    scale = max(a.scale, b.scale)
    return t.decimal(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)


def _is_interval(found: t.DataType) -> bool:
    return isinstance(found, t.Interval) or found == t.CALENDAR_INTERVAL


def _shift(moment: t.DataType, span: t.DataType) -> t.DataType | None:
    """A time moved by an interval."""
    if moment == t.DATE:
        whole_days = span in (_DAY, t.CALENDAR_INTERVAL) or is_year_month(span)
        return t.DATE if whole_days else t.TIMESTAMP
    if isinstance(moment, t.Timestamp) or moment == t.STRING:
        return moment
    return span if moment == t.NULL else None


def _add_times(a: t.DataType, b: t.DataType) -> t.DataType | None:
    if _is_interval(a) and _is_interval(b):
        return t.common_type(a, b)
    if _is_interval(a) or _is_interval(b):
        return _shift(b, a) if _is_interval(a) else _shift(a, b)
    if t.DATE in (a, b) and (a in _DAYS or b in _DAYS):
        return t.DATE
    return None


def _subtract_times(a: t.DataType, b: t.DataType) -> t.DataType | None:
    if _is_interval(b):
        return t.common_type(a, b) if _is_interval(a) else _shift(a, b)
    if a == t.DATE and b in _DAYS:
        return t.DATE
    moments = [found for found in (a, b) if t.is_temporal(found)]
    if len(moments) + (a in (t.STRING, t.NULL)) + (b in (t.STRING, t.NULL)) == 2 and moments:
        return _DAY if all(found == t.DATE for found in moments) else t.DAY_TIME
    return None


def _whole_unit(found: t.DataType) -> t.DataType:
    return t.DAY_TIME if is_day_time(found) else t.YEAR_MONTH


def _scale(a: t.DataType, b: t.DataType) -> t.DataType | None:
    if isinstance(a, t.Interval) and (t.is_numeric(b) or b in (t.STRING, t.NULL)):
        return _whole_unit(a)
    return None


def _multiply_times(a: t.DataType, b: t.DataType) -> t.DataType | None:
    return _scale(a, b) or _scale(b, a)


def _no_times(_a: t.DataType, _b: t.DataType) -> None:
    return None


_ADD = _Op("+", _sum, _add_times)
_SUBTRACT = _Op("-", _sum, _subtract_times)
_MULTIPLY = _Op("*", _product, _multiply_times)
_DIVIDE = _Op("/", _quotient, _scale, fractions=True)
_REMAINDER = _Op("%", _rest, _no_times)
