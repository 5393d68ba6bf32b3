"""What a contract converts implicitly: nothing that could lose a part of a value."""

from __future__ import annotations

from compiler.plan import types as t


def misfit(source: t.DataType, target: t.DataType) -> str | None:
    """Why a value of `source` may not be one of `target`; None if each is.

    Precision, scale and NULLs inside of nested types count: nothing is cut, rounded or dropped silently.
    """
    if source in (target, t.NULL):
        return None
    if isinstance(source, (t.Array, t.Map, t.Struct)):
        return _nested(source, target)
    if isinstance(target, t.Timestamp):
        return _into_timestamp(source, target)
    if t.is_numeric(source) and t.is_numeric(target):
        return _number(source, target)
    return f"{source} is not converted to {target} implicitly"


def may_be_none(source: t.DataType, target: t.DataType) -> bool:
    """Whether a text in `source` may be none of `target`: no number, no date, neither true nor false."""
    if source == t.STRING:
        return target not in (t.STRING, t.BINARY, t.VARIANT)
    if isinstance(source, t.Array) and isinstance(target, t.Array):
        return may_be_none(source.element, target.element)
    if isinstance(source, t.Map) and isinstance(target, t.Map):
        return may_be_none(source.key, target.key) or may_be_none(source.value, target.value)
    if isinstance(source, t.Struct) and isinstance(target, t.Struct):
        pairs = zip(source.fields, target.fields, strict=False)
        return any(may_be_none(given.type, wanted.type) for given, wanted in pairs)
    return False


def _into_timestamp(source: t.DataType, target: t.Timestamp) -> str | None:
    if source == t.DATE:
        return None
    if not isinstance(source, t.Timestamp):
        return f"{source} is not converted to {target} implicitly"
    if source.precision <= target.precision:
        return None
    return f"a value may have {source.precision} digits of the second, and {target.precision} are kept"


def _number(source: t.DataType, target: t.DataType) -> str | None:
    if t.is_integral(source) and t.is_integral(target):
        small = t.INTEGRAL.index(source) <= t.INTEGRAL.index(target)
        return None if small else f"a value may be greater than {target} can hold"
    if isinstance(target, t.Decimal):
        return _into_decimal(source, target)
    if target in (t.FLOAT, t.DOUBLE):
        exact = (t.TINYINT, t.SMALLINT) if target == t.FLOAT else (t.FLOAT, t.TINYINT, t.SMALLINT, t.INT)
        return None if source in exact else f"{target} does not hold every {source} exactly"
    return f"a value may have a fraction, or be greater than {target} can hold"


def _into_decimal(source: t.DataType, target: t.Decimal) -> str | None:
    found = t.as_decimal(source)
    if found is None:
        return f"{source} is not exact, {target} is"
    whole, kept = found.precision - found.scale, target.precision - target.scale
    if whole > kept:
        return f"a value may have {whole} digits before the point, and {target} has {kept}"
    if found.scale > target.scale:
        return f"a value may have {found.scale} digits after the point, and {target} has {target.scale}"
    return None


def _nested(source: t.DataType, target: t.DataType) -> str | None:
    if isinstance(source, t.Array) and isinstance(target, t.Array):
        nulls = source.contains_null and not target.contains_null
        return "an element may be NULL" if nulls else _inside("an element", source.element, target.element)
    if isinstance(source, t.Map) and isinstance(target, t.Map):
        if source.value_contains_null and not target.value_contains_null:
            return "a value of the map may be NULL"
        return _inside("a key", source.key, target.key) or _inside("a value", source.value, target.value)
    if isinstance(source, t.Struct) and isinstance(target, t.Struct):
        return _struct(source, target)
    return f"{source} is not converted to {target} implicitly"


def _inside(what: str, source: t.DataType, target: t.DataType) -> str | None:
    found = misfit(source, target)
    return f"{what}: {found}" if found is not None else None


def _struct(source: t.Struct, target: t.Struct) -> str | None:
    names = [field.name for field in source.fields], [field.name for field in target.fields]
    if [n.lower() for n in names[0]] != [n.lower() for n in names[1]]:
        return f"its fields are {', '.join(names[0])}, not {', '.join(names[1])}"
    for given, wanted in zip(source.fields, target.fields, strict=True):
        if given.nullable and not wanted.nullable:
            return f"field `{given.name}` may be NULL"
        found = _inside(f"field `{given.name}`", given.type, wanted.type)
        if found is not None:
            return found
    return None
