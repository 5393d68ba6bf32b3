"""Result types that many functions share, as small functions to put together."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions.build import Rule
from compiler.functions.kinds import holds, is_ordered
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t


def same_as(index: int) -> Rule:
    """The type of that argument."""
    return lambda args: args[index].type


def common(first: int = 0) -> Rule:
    """The least common type of the arguments from that one on."""
    return lambda args: common_of(args[first:])


def array_of(rule: Rule) -> Rule:
    """An array of what another rule gives; elements may be NULL."""
    return lambda args: t.Array(rule(args))


def array_if(index: int, rule: Rule) -> Rule:
    """An array of what another rule gives if that argument is an array: many percentiles at once."""

    def result(args: Sequence[Arg]) -> t.DataType:
        found = rule(args)
        return t.Array(found, False) if isinstance(args[index].type, t.Array) else found

    return result


def common_of(args: Sequence[Arg]) -> t.DataType:
    """The least common type.

    Raises:
        TypeProblem: there is none.
    """
    found: t.DataType = t.NULL
    for arg in args:
        wider = t.common_type(found, arg.type)
        if wider is None:
            raise TypeProblem(f"{found} and {arg.type} have no common type")
        found = wider
    return found


def _is_string(found: t.DataType) -> bool:
    return found == t.STRING


def _same_strings(a: t.DataType, b: t.DataType) -> bool:
    if isinstance(a, t.Array) and isinstance(b, t.Array):
        return _same_strings(a.element, b.element)
    if isinstance(a, t.Map) and isinstance(b, t.Map):
        return _same_strings(a.key, b.key) and _same_strings(a.value, b.value)
    if isinstance(a, t.Struct) and isinstance(b, t.Struct):
        return all(_same_strings(x.type, y.type) for x, y in zip(a.fields, b.fields, strict=False))
    return t.NULL in (a, b) or _is_string(a) == _is_string(b)


def common_without_strings(args: Sequence[Arg]) -> t.DataType:
    """The least common type where a string meets strings only, of values with an order (`greatest`).

    Source: `AnsiTypeCoercion.findWiderTypeWithoutStringPromotion`.

    Raises:
        TypeProblem: there is none.
    """
    found: t.DataType = t.NULL
    for arg in args:
        wider = t.common_type(found, arg.type) if _same_strings(found, arg.type) else None
        if wider is None:
            raise TypeProblem(f"{found} and {arg.type} have no common type here: cast one of them")
        found = wider
    if not is_ordered(found):
        raise TypeProblem(f"{found} has no order")
    return found


_NUMBERS: tuple[t.DataType, ...] = (*t.INTEGRAL, t.FLOAT, t.DOUBLE)


def tightest(a: t.DataType, b: t.DataType) -> t.DataType | None:
    """The wider of two types where one holds the other; None if neither does.

    What an array and an element, or two arrays, are brought to. Unlike in `common_type` a string meets
    strings only, a FLOAT takes whole numbers in, and a decimal only those that fit it.
    Source: `TypeCoercion.findTightestCommonType`, `ImplicitTypeCasts` of `ArrayAppend`, `ArrayUnion` ….
    """
    if t.NULL in (a, b) or a == b:
        return b if a == t.NULL else a
    if a in _NUMBERS and b in _NUMBERS:
        return max(a, b, key=_NUMBERS.index)
    if isinstance(a, t.Array) and isinstance(b, t.Array):
        element = tightest(a.element, b.element)
        return t.Array(element, a.contains_null or b.contains_null) if element else None
    if isinstance(a, t.Decimal) or isinstance(b, t.Decimal):
        return _wider_decimal(a, b)
    if holds(a, _is_string) or holds(b, _is_string):
        return a if a.sql == b.sql else None
    return t.common_type(a, b)


def _wider_decimal(a: t.DataType, b: t.DataType) -> t.DataType | None:
    left, right = t.as_decimal(a), t.as_decimal(b)
    if left is None or right is None:
        return None
    for wide, narrow, kind in ((left, right, a), (right, left, b)):
        room = wide.precision - wide.scale >= narrow.precision - narrow.scale and wide.scale >= narrow.scale
        if room and isinstance(kind, t.Decimal):
            return wide
    return None


def element(args: Sequence[Arg], index: int = 0) -> t.DataType:
    """The element type of an argument that is an array."""
    found = args[index].type
    assert isinstance(found, t.Array)
    return found.element


def as_array(arg: Arg) -> t.Array:
    """The type of an argument that is an array."""
    assert isinstance(arg.type, t.Array)
    return arg.type


def as_map(arg: Arg) -> t.Map:
    """The type of an argument that is a map."""
    assert isinstance(arg.type, t.Map)
    return arg.type


def fields(*named: tuple[str, t.DataType, bool]) -> t.Struct:
    """A struct of (name, type, whether it may be NULL)."""
    return t.Struct(tuple(t.StructField(*field) for field in named))


def whole_number(args: Sequence[Arg], index: int, default: int) -> int:
    """The value of an optional argument that decides the type.

    Raises:
        TypeProblem: it is no literal.
    """
    if index >= len(args) or args[index].type == t.NULL or (args[index].is_literal and args[index].nullable):
        return default  # left out, or NULL
    value = args[index].literal
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeProblem(f"argument {index + 1} must be a whole number, written out")
    return value


def text(args: Sequence[Arg], index: int, what: str) -> str:
    """The value of a string that decides the type.

    Raises:
        TypeProblem: it is no literal.
    """
    value = args[index].literal
    if not isinstance(value, str):
        raise TypeProblem(f"argument {index + 1} must be {what}, written out")
    return value
