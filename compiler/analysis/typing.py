"""Types of the operators, as Spark's ANSI mode gives them.

Source of the decimal rules: Spark 4.2, `Add`, `Subtract`, `Multiply`, `Divide`, `Remainder` in
`arithmetic.scala` (`resultDecimalType`), cut by `DecimalType.adjustPrecisionScale`.
"""

from __future__ import annotations

from compiler.functions.spec import TypeProblem
from compiler.plan import types as t
from compiler.plan.expr import Expr, Literal

COMPARISONS = ("=", "<=>", "<>", "<", "<=", ">", ">=")
_ORDERED_ONLY = (t.Map,)


def literal_type(text: str) -> t.DataType:
    """Type of a number as it is written: `5`, `5000000000`, `1.50`, `1e3`."""
    if "e" in text.lower():
        return t.DOUBLE
    if "." in text:
        whole, fraction = text.split(".")
        digits = len(whole.lstrip("0")) + len(fraction)
        return t.Decimal(max(digits, len(fraction), 1), len(fraction))
    value = int(text)
    if -(2**31) <= value < 2**31:
        return t.INT
    return t.BIGINT if -(2**63) <= value < 2**63 else t.Decimal(len(text.lstrip("0")), 0)


def arithmetic_type(op: str, left: Expr, right: Expr) -> t.DataType:
    """Type of `left op right` for + - * / % DIV.

    Raises:
        TypeProblem: the operator is not defined on these types.
    """
    temporal = _temporal(op, left.type, right.type)
    if temporal is not None:
        return temporal
    if not (_counts(left.type) and _counts(right.type)):
        raise TypeProblem(f"`{op}` is not defined for {left.type} and {right.type}")
    a, b = _numeric(left.type, right.type, op), _numeric(right.type, left.type, op)
    if op == "DIV":
        return t.BIGINT
    if t.DOUBLE in (a, b) or (t.FLOAT in (a, b)):
        return t.FLOAT if op != "/" and a == b == t.FLOAT else t.DOUBLE
    if isinstance(a, t.Decimal) or isinstance(b, t.Decimal):
        return _decimal_type(op, _digits(left, a), _digits(right, b))
    if op == "/":
        return t.DOUBLE
    common = t.common_type(a, b)
    assert common is not None
    return common


def _counts(found: t.DataType) -> bool:
    return t.is_numeric(found) or found in (t.STRING, t.NULL)


def _numeric(own: t.DataType, other: t.DataType, op: str) -> t.DataType:
    if t.is_numeric(own):
        return own
    if own == t.STRING:
        # ANSI: a string becomes BIGINT next to an integral, DOUBLE next to anything else.
        return t.BIGINT if t.is_integral(other) and op != "/" else t.DOUBLE
    if own == t.NULL:
        return other if t.is_numeric(other) else t.DOUBLE
    raise AssertionError(own)  # told by the caller


def _digits(expr: Expr, found: t.DataType) -> t.Decimal:
    if isinstance(expr, Literal) and t.is_integral(found) and isinstance(expr.value, int):
        return t.Decimal(max(1, len(str(abs(expr.value)))), 0)
    result = t.as_decimal(found)
    assert result is not None
    return result


def _decimal_type(op: str, a: t.Decimal, b: t.Decimal) -> t.DataType:
    p1, s1, p2, s2 = a.precision, a.scale, b.precision, b.scale
    if op in ("+", "-"):
        scale = max(s1, s2)
        return t.decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if op == "*":
        return t.decimal(p1 + p2 + 1, s1 + s2)
    if op == "/":
        scale = max(6, s1 + p2 + 1)
        return t.decimal(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return t.decimal(min(p1 - s1, p2 - s2) + scale, scale)


def _temporal(op: str, a: t.DataType, b: t.DataType) -> t.DataType | None:
    if isinstance(a, t.Interval) or isinstance(b, t.Interval):
        return _interval(op, a, b)
    if a == t.DATE and op in ("+", "-") and (t.is_integral(b) and b != t.BIGINT):
        return t.DATE
    if op == "+" and b == t.DATE and t.is_integral(a) and a != t.BIGINT:
        return t.DATE
    if op == "-" and t.is_temporal(a) and t.is_temporal(b):
        return t.Interval("DAY") if a == b == t.DATE else t.DAY_TIME
    return None


def _interval(op: str, a: t.DataType, b: t.DataType) -> t.DataType:
    if isinstance(a, t.Interval) and isinstance(b, t.Interval) and op in ("+", "-"):
        if (a == t.YEAR_MONTH) != (b == t.YEAR_MONTH):
            raise TypeProblem("months and seconds cannot be added: a month has no fixed length")
        return a if a == b else t.DAY_TIME
    if op in ("*", "/") and isinstance(a, t.Interval) and t.is_numeric(b):
        return a if a == t.YEAR_MONTH else t.DAY_TIME
    if op == "*" and isinstance(b, t.Interval) and t.is_numeric(a):
        return b if b == t.YEAR_MONTH else t.DAY_TIME
    moment, span = (a, b) if isinstance(b, t.Interval) else (b, a)
    if t.is_temporal(moment) and (op == "+" or (op == "-" and moment is a)):
        whole_days = (
            moment == t.DATE and isinstance(span, t.Interval) and span in (t.Interval("DAY"), t.YEAR_MONTH)
        )
        return moment if whole_days or moment != t.DATE else t.TIMESTAMP
    if moment == t.STRING and op in ("+", "-"):
        return t.STRING
    raise TypeProblem(f"`{op}` is not defined for {a} and {b}")


def check_comparable(op: str, a: t.DataType, b: t.DataType) -> None:
    """Refuses comparisons that Spark refuses.

    Raises:
        TypeProblem: the types have no common type, or no order.
    """
    common = t.common_type(a, b)
    if common is None:
        raise TypeProblem(f"{a} cannot be compared with {b}")
    if isinstance(common, _ORDERED_ONLY):
        raise TypeProblem(f"`{op}` is not defined for {common}")


def check_boolean(what: str, found: t.DataType, operand: bool = False) -> None:
    """Refuses a condition that is not true or false.

    Raises:
        TypeProblem: the type is not BOOLEAN, nor a STRING as an `operand`, which Spark casts.
    """
    if found not in (t.BOOLEAN, t.NULL) and not (operand and found == t.STRING):
        raise TypeProblem(f"{what} must be BOOLEAN, not {found}")


def can_cast(source: t.DataType, target: t.DataType) -> bool:
    """Whether CAST from one to the other exists in ANSI mode.

    Source: Spark SQL reference, "ANSI compliance", table of allowed casts.
    """
    if source in (target, t.NULL) or target == t.STRING:
        return True
    if source == t.STRING:
        return not isinstance(target, (t.Array, t.Map, t.Struct))
    if t.is_numeric(source):
        return t.is_numeric(target) or target == t.BOOLEAN or isinstance(target, (t.Timestamp, t.Interval))
    if source == t.BOOLEAN:
        return t.is_numeric(target)
    if t.is_temporal(source):
        numeric = isinstance(source, t.Timestamp) and t.is_numeric(target)
        return t.is_temporal(target) or numeric
    if isinstance(source, t.Interval):
        return isinstance(target, t.Interval) or t.is_integral(target) or isinstance(target, t.Decimal)
    if isinstance(source, t.Array) and isinstance(target, t.Array):
        return can_cast(source.element, target.element)
    if isinstance(source, t.Map) and isinstance(target, t.Map):
        return can_cast(source.key, target.key) and can_cast(source.value, target.value)
    if isinstance(source, t.Struct) and isinstance(target, t.Struct):
        same = len(source.fields) == len(target.fields)
        return same and all(
            can_cast(a.type, b.type) for a, b in zip(source.fields, target.fields, strict=False)
        )
    return source == t.VARIANT


def widens(source: t.DataType, target: t.DataType) -> bool:
    """Whether every value of `source` is a value of `target`: the implicit conversion into a sink."""
    if source in (target, t.NULL):
        return True
    if isinstance(source, t.Timestamp) and isinstance(target, t.Timestamp):
        return True
    if t.is_integral(source) and t.is_integral(target):
        return t.INTEGRAL.index(source) <= t.INTEGRAL.index(target)
    a, b = t.as_decimal(source), t.as_decimal(target)
    if a and b and isinstance(target, t.Decimal):
        return a.precision - a.scale <= b.precision - b.scale and a.scale <= b.scale
    if target == t.DOUBLE:
        return source in (t.FLOAT, t.TINYINT, t.SMALLINT, t.INT)
    if target == t.FLOAT:
        return source in (t.TINYINT, t.SMALLINT)
    if source == t.DATE and isinstance(target, t.Timestamp):
        return True
    if isinstance(source, t.Array) and isinstance(target, t.Array):
        return widens(source.element, target.element)
    if isinstance(source, t.Map) and isinstance(target, t.Map):
        return widens(source.key, target.key) and widens(source.value, target.value)
    if isinstance(source, t.Struct) and isinstance(target, t.Struct):
        return len(source.fields) == len(target.fields) and all(
            a.name.lower() == b.name.lower() and widens(a.type, b.type)
            for a, b in zip(source.fields, target.fields, strict=True)
        )
    return False
