"""Numbers: Spark 4.2, `mathExpressions.scala`, `arithmetic.scala`, `bitwiseExpressions.scala`, `Uniform`."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import arithmetic
from compiler.functions import kinds as k
from compiler.functions.build import Row, Rule, forms, row, sig
from compiler.functions.rules import same_as, text, whole_number
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL,
    NULL,
    STRING,
    TINYINT,
    DataType,
    Decimal,
    Timestamp,
    is_integral,
)

_ALWAYS = Nulls.ALWAYS


def _rounded(args: Sequence[Arg]) -> DataType:
    """Spark: `RoundBase.dataType`; one digit more before the point, for 9.9 becomes 10."""
    found = args[0].type
    if not isinstance(found, Decimal):
        return found
    digits = whole_number(args, 1, 0)
    whole = found.precision - found.scale + 1
    if digits < 0:
        return Decimal(min(max(whole, 1 - digits), 38), 0)
    scale = min(found.scale, digits)
    return Decimal(min(whole + scale, 38), scale)


# What a floating point number counts as, by `DecimalType.forType`; a string becomes `SYSTEM_DEFAULT`.
_AS_DECIMAL: dict[DataType, Decimal] = {
    TINYINT: Decimal(3, 0),
    INTEGRAL[1]: Decimal(5, 0),
    INT: Decimal(10, 0),
    BIGINT: Decimal(20, 0),
    FLOAT: Decimal(14, 7),
    DOUBLE: Decimal(30, 15),
    STRING: Decimal(38, 18),
}


def _to_whole(args: Sequence[Arg]) -> DataType:
    """`ceil` and `floor` to a whole number."""
    found = args[0].type
    if not isinstance(found, Decimal):
        return BIGINT
    return found if found.scale == 0 else Decimal(min(found.precision - found.scale + 1, 38), 0)


def _to_digits(args: Sequence[Arg]) -> DataType:
    """`ceil` and `floor` to a number of digits: always a decimal."""
    found = args[0].type
    wide = found if isinstance(found, Decimal) else _AS_DECIMAL.get(found)
    if wide is None:
        raise TypeProblem(f"argument 1 must be a number, not {found}")
    return _rounded((Arg(wide, args[0].nullable), args[1]))


def _formatted(args: Sequence[Arg]) -> DataType:
    """The decimal that a number format describes: `999.99` has five digits, two behind the point."""
    if args[1].type == NULL:
        return Decimal(10, 0)
    pattern = text(args, 1, "a number format").upper().replace("D", ".")
    before, _, after = pattern.partition(".")
    scale = sum(after.count(digit) for digit in "09")
    precision = sum(before.count(digit) for digit in "09") + scale
    if not 1 <= precision <= 38:
        raise TypeProblem("argument 2 must be a number format of 1 to 38 digits")
    return Decimal(precision, scale)


def _either_float(args: Sequence[Arg]) -> DataType:
    return FLOAT if all(arg.type == FLOAT for arg in args) else DOUBLE


def _shifted(args: Sequence[Arg]) -> DataType:
    return BIGINT if args[0].type == BIGINT else INT


def _uniform(args: Sequence[Arg]) -> DataType:
    found = [arg.type for arg in args[:2]]
    for wide in (NULL, DOUBLE, FLOAT):
        if wide in found:
            return DOUBLE if wide == NULL else wide
    decimals = [a for a in found if isinstance(a, Decimal)]
    if decimals:
        return max(decimals, key=lambda a: a.precision)
    return max(found, key=INTEGRAL.index)


def _unary(names: str, nulls: Nulls = _ALWAYS) -> Row:
    return row(names, k.DOUBLE, to=DOUBLE, nulls=nulls)


_KEPT = same_as(0)
_DIGITS = k.constant(k.INTEGER)
_WHOLE_DIGITS = k.given(k.one_of("an INT", INT))
_SEED = k.constant(k.where("a whole number", is_integral, INT))
_NUMBER = k.constant(k.NUMBER_ONLY)
_OPERANDS = (k.ANY, k.ANY)
_PRINTED = k.Kind("a number", lambda a: STRING if a == NULL else a if k.NUMBER.cast(a) else None)


def _operator(names: str, rule: Rule) -> Row:
    return row(names, *_OPERANDS, to=rule, nulls=_ALWAYS)


TABLE: tuple[Row, ...] = (
    row("abs negative positive", k.NUMBER_OR_INTERVAL, to=_KEPT),
    _unary(
        "acos acosh asin asinh atan atanh cbrt cos cosh cot csc degrees exp expm1 ln log10 log1p log2 radians"
    ),
    _unary("rint sec sin sinh sqrt tan tanh"),
    row("atan2 hypot pow power", k.DOUBLE, k.DOUBLE, to=DOUBLE),
    row("bin", k.LONG, to=STRING),
    row(
        "bit_count",
        k.where("a whole number or BOOLEAN", lambda a: is_integral(a) or a == BOOLEAN, INT),
        to=INT,
    ),
    row("bit_get getbit", k.INTEGRAL, k.INTEGER, to=TINYINT),
    row("bround round", k.NUMBER, _DIGITS, to=_rounded, optional=1, nulls=_ALWAYS),
    forms(
        "ceil ceiling floor",
        sig(k.NUMBER, to=_to_whole),
        sig(k.ANY, _WHOLE_DIGITS, to=_to_digits),
        nulls=_ALWAYS,
    ),
    row("conv", k.STR, k.INTEGER, k.INTEGER, to=STRING, nulls=_ALWAYS),
    row("e pi", to=DOUBLE, nulls=Nulls.NEVER),
    row("factorial", k.INTEGER, to=BIGINT, nulls=_ALWAYS),
    row("hex", k.STR_OR_BIN, to=STRING),
    row("isnan", k.NUMBER, to=BOOLEAN, nulls=Nulls.NEVER),
    row("log", k.DOUBLE, k.DOUBLE, to=DOUBLE, optional=1, nulls=_ALWAYS),
    row("nanvl", k.NUMBER, k.NUMBER, to=_either_float),
    row(
        "shiftleft shiftright shiftrightunsigned",
        k.Kind("a number", lambda a: a if a == BIGINT else k.INTEGER.cast(a)),
        k.INTEGER,
        to=_shifted,
    ),
    row("sign signum", k.NUMBER_OR_INTERVAL, to=DOUBLE, nulls=_ALWAYS),
    forms(
        "to_char to_varchar",
        sig(
            k.where("a DATE or TIMESTAMP", lambda a: a == DATE or isinstance(a, Timestamp)), k.STR, to=STRING
        ),
        sig(k.BYTES, k.constant(k.STR), to=STRING),
        sig(_PRINTED, k.constant(k.STR), to=STRING),
        nulls=_ALWAYS,
    ),
    row("to_number try_to_number", k.STR, k.constant(k.STR), to=_formatted, nulls=_ALWAYS),
    row("unhex", k.STR, to=BINARY, nulls=_ALWAYS),
    forms(
        "width_bucket",
        sig(*(k.where("an interval of days to seconds", k.is_day_time),) * 3, k.LONG, to=BIGINT),
        sig(*(k.where("an interval of months", k.is_year_month),) * 3, k.LONG, to=BIGINT),
        sig(k.DOUBLE, k.DOUBLE, k.DOUBLE, k.LONG, to=BIGINT),
        nulls=_ALWAYS,
    ),
    # operators by name
    _operator("try_add", arithmetic.add),
    _operator("try_subtract", arithmetic.subtract),
    _operator("try_multiply", arithmetic.multiply),
    _operator("try_divide", arithmetic.divide),
    _operator("mod pmod try_mod", arithmetic.remainder),
    _operator("div", arithmetic.whole_division),
    # random
    row("rand randn random", _SEED, to=DOUBLE, optional=1, nulls=Nulls.NEVER, deterministic=False),
    row(
        "randstr", k.constant(k.INTEGER), _SEED, to=STRING, optional=1, nulls=Nulls.NEVER, deterministic=False
    ),
    row("uniform", _NUMBER, _NUMBER, _SEED, to=_uniform, optional=1, nulls=Nulls.NEVER, deterministic=False),
    row("uuid", _SEED, to=STRING, optional=1, nulls=Nulls.NEVER, deterministic=False),
)
