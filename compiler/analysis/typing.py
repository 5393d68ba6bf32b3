"""Types of the operators, as Spark's ANSI mode gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compiler.functions import arithmetic
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t
from compiler.plan.expr import Column, Expr, FieldAccess, Literal, Variable, is_constant

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


_BOUNDS: dict[str, tuple[t.DataType, int]] = {"Y": (t.TINYINT, 7), "S": (t.SMALLINT, 15), "L": (t.BIGINT, 63)}


def suffixed_type(text: str, suffix: str) -> t.DataType | None:
    """Type of a number with a suffix, `1L`; None if it does not fit that type."""
    if suffix in ("D", "F"):
        return t.DOUBLE if suffix == "D" else t.FLOAT
    if suffix == "BD":
        exact = text if "." in text else f"{text}."
        found = literal_type(exact)
        return found if isinstance(found, t.Decimal) and found.precision <= 38 else None
    bounded, bits = _BOUNDS[suffix]
    return bounded if text.isdigit() and int(text) < 2**bits else None


def known(expr: Expr) -> Arg:
    """What the catalogue may know of an argument."""
    if isinstance(expr, Literal):
        value = expr.value if isinstance(expr.value, (str, int)) else None
        return Arg(expr.type, expr.nullable, value, True)
    if isinstance(expr, (Column, FieldAccess, Variable)):
        name = expr.field if isinstance(expr, FieldAccess) else expr.name
        return Arg(expr.type, expr.nullable, name=name)
    return Arg(expr.type, expr.nullable, is_literal=is_constant(expr))


def arithmetic_type(op: str, left: Expr, right: Expr) -> t.DataType:
    """Type of `left op right` for + - * / % DIV.

    Raises:
        TypeProblem: the operator is not defined on these types.
    """
    return _ARITHMETIC[op]((known(left), known(right)))


_ARITHMETIC: dict[str, Callable[[Sequence[Arg]], t.DataType]] = {
    "+": arithmetic.add,
    "-": arithmetic.subtract,
    "*": arithmetic.multiply,
    "/": arithmetic.divide,
    "%": arithmetic.remainder,
    "DIV": arithmetic.whole_division,
}


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
            can_cast(a.type, b.type) and a.nullable <= b.nullable
            for a, b in zip(source.fields, target.fields, strict=False)
        )
    return source == t.VARIANT


def cast_result(target: t.DataType) -> t.DataType:
    """The type that a CAST gives: Spark's DDL cannot say that an array or a map holds no NULL."""
    if isinstance(target, t.Array):
        return t.Array(cast_result(target.element))
    if isinstance(target, t.Map):
        return t.Map(cast_result(target.key), cast_result(target.value))
    if isinstance(target, t.Struct):
        fields = (t.StructField(f.name, cast_result(f.type), f.nullable) for f in target.fields)
        return t.Struct(tuple(fields))
    return target
