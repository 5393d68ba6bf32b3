"""Spark's operators and functions on Python values, as ANSI mode computes them.

NULL is None. Times and intervals are whole microseconds, decimals `decimal.Decimal`. A function is made for
the type of its result, since that decides where a sum overflows and how a quotient is rounded.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isnan
from typing import Any, Final

Function = Callable[..., Any]

_BITS: Final = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
# Room for the product of two decimals of 38 digits, and for a quotient before it is rounded.
_EXACT: Final = Context(prec=120, rounding=ROUND_HALF_UP)


class ValueProblem(ArithmeticError):
    """A value that Spark, too, would fail on: an overflow, a division by zero."""


# --- results of a type ------------------------------------------------------


def fitter(type_: str) -> Function:
    """What makes a number one of a type, or fails if it does not fit."""
    bits = _BITS.get(type_)
    if bits is not None or type_ == "TIMESTAMP" or type_.startswith("INTERVAL"):
        bound = 1 << (bits or 63)

        def whole(value: int) -> int:
            if not -bound <= value < bound:
                raise ValueProblem(f"{value} does not fit into {type_}")
            return value

        return whole
    found = _DECIMAL.fullmatch(type_)
    if found is not None:
        digits, scale = int(found[1]), int(found[2])
        unit, bound = Decimal(1).scaleb(-scale), 10 ** (digits - scale)

        def exact(value: Decimal | int) -> Decimal:
            rounded = _EXACT.quantize(Decimal(value), unit)
            if abs(rounded) >= bound:
                raise ValueProblem(f"{value} does not fit into {type_}")
            return rounded

        return exact
    if type_ == "FLOAT":
        return lambda value: struct.unpack("f", struct.pack("f", value))[0]
    return lambda value: value


def _nonzero(value: Any) -> Any:
    if value == 0:
        raise ValueProblem("division by zero")
    return value


def plus(left: Any, right: Any) -> Any:
    """The exact sum of two numbers of one type."""
    return _EXACT.add(left, right) if isinstance(left, Decimal) else left + right


def divide(left: Any, right: Any) -> Any:
    """The quotient of two numbers, not rounded yet."""
    _nonzero(right)
    return _EXACT.divide(left, right) if isinstance(left, Decimal) else left / right


def _whole_quotient(left: Any, right: Any) -> int:
    _nonzero(right)
    if isinstance(left, Decimal):
        return int(_EXACT.divide_int(left, right))
    quotient: int = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: Any, right: Any) -> Any:
    _nonzero(right)
    if isinstance(left, Decimal):
        return _EXACT.remainder(left, right)
    if isinstance(left, float):
        return math.fmod(left, right)
    return left - right * _whole_quotient(left, right)


_ARITHMETIC: Final[dict[str, Function]] = {
    "+": plus,
    "-": lambda a, b: _EXACT.subtract(a, b) if isinstance(a, Decimal) else a - b,
    "*": lambda a, b: _EXACT.multiply(a, b) if isinstance(a, Decimal) else a * b,
    "/": divide,
    "%": _remainder,
    "DIV": _whole_quotient,
    "NEG": lambda a: -a,
    "abs": abs,
}


# --- comparisons ------------------------------------------------------------


def compare(left: Any, right: Any) -> int:
    """Below, at or above zero; NaN equals itself and is above every other number."""
    if left == right:
        return 0
    if isinstance(left, float) and (isnan(left) or isnan(right)):
        return int(isnan(left)) - int(isnan(right))
    return -1 if left < right else 1


def _comparison(holds: Function) -> Function:
    """NULL if a side is. Only numbers that may be NaN go the long way: conditions compare every row."""

    def call(left: Any, right: Any) -> bool | None:
        if left is None or right is None:
            return None
        if left.__class__ is float or right.__class__ is float:
            return bool(holds(compare(left, right), 0))
        return bool(holds(left, right))

    return call


COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Of values that are there, and are not NaN."""

_COMPARISONS: Final[dict[str, Function]] = {name: _comparison(holds) for name, holds in COMPARISONS.items()}


# --- NULL -------------------------------------------------------------------


def _strict(function: Function) -> Function:
    """NULL if an argument is."""

    def call(*args: Any) -> Any:
        return None if any(arg is None for arg in args) else function(*args)

    return call


def _in(value: Any, *options: Any) -> bool | None:
    if value is None:
        return None
    if any(option is not None and compare(value, option) == 0 for option in options):
        return True
    return None if any(option is None for option in options) else False


def _between(value: Any, low: Any, high: Any) -> bool | None:
    at_least = _COMPARISONS[">="](value, low)
    at_most = _COMPARISONS["<="](value, high)
    if at_least is False or at_most is False:
        return False
    return None if at_least is None or at_most is None else True


def _extreme(sign: int) -> Function:
    def call(*args: Any) -> Any:
        best = None
        for arg in args:
            if arg is not None and (best is None or compare(arg, best) * sign > 0):
                best = arg
        return best

    return call


_WITH_NULLS: Final[dict[str, Function]] = {
    "<=>": lambda a, b: a is b if a is None or b is None else compare(a, b) == 0,
    "BETWEEN": _between,
    "IN": _in,
    "IS NULL": lambda a: a is None,
    "IS NOT NULL": lambda a: a is not None,
    "isnull": lambda a: a is None,
    "isnotnull": lambda a: a is not None,
    "IS TRUE": lambda a: a is True,
    "IS FALSE": lambda a: a is False,
    "IS NOT TRUE": lambda a: a is not True,
    "IS NOT FALSE": lambda a: a is not False,
    "nullif": lambda a, b: None if a is not None and b is not None and compare(a, b) == 0 else a,
    "greatest": _extreme(1),
    "least": _extreme(-1),
}


# --- casts ------------------------------------------------------------------


def _cast(type_: str) -> Function:
    """From a number to another type of number; the compiler lets no other cast through."""
    fit = fitter(type_)
    if type_ in ("DOUBLE", "FLOAT"):
        return lambda value: fit(float(value))
    if type_ in _BITS:
        return lambda value: fit(math.trunc(value))
    if _DECIMAL.fullmatch(type_):
        return lambda value: fit(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
    return lambda value: value


FUNCTIONS: Final = frozenset({*_ARITHMETIC, *_COMPARISONS, *_WITH_NULLS, "NOT", "||", "cast"})
"""What `function` can make; AND, OR, CASE and COALESCE need not look at all arguments, and are made apart."""


def function(name: str, type_: str) -> Function:
    """The Python function that computes one of the compiler's `TERM_FUNCTIONS` with a result of a type."""
    if name in _WITH_NULLS:
        return _WITH_NULLS[name]
    if name in _COMPARISONS:
        return _COMPARISONS[name]
    if name == "NOT":
        return _strict(lambda value: not value)
    if name == "||":
        return _strict(lambda left, right: left + right)
    if name == "cast":
        return _strict(_cast(type_))
    operation, fit = _ARITHMETIC[name], fitter(type_)
    return _strict(lambda *args: fit(operation(*args)))
