"""Schemas of Avro that were given: their types, as Spark has them.

What Avro's parser or Spark would fail on at run time is refused here. A field that no column can hold is in
the way only of a column that asks for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, TypeGuard

from compiler.analysis.message_fields import SchemaProblem
from compiler.plan import types as t

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_DEPTH: Final = 100
_DIGITS: Final = 38
_INT_MAX: Final = 2**31 - 1

_PLAIN: Final[Mapping[str, t.DataType]] = {
    "null": t.NULL,
    "boolean": t.BOOLEAN,
    "int": t.INT,
    "long": t.BIGINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "string": t.STRING,
    "bytes": t.BINARY,
}
# Spark reads microseconds of a day as TIME, which columns have not: they are no numbers then.
_LOGICAL: Final[Mapping[tuple[str, object], t.DataType]] = {
    ("int", "date"): t.DATE,
    ("long", "time-micros"): t.Simple("TIME"),
    ("long", "timestamp-millis"): t.Timestamp(3),
    ("long", "timestamp-micros"): t.TIMESTAMP,
    ("long", "local-timestamp-millis"): t.Timestamp(3),
    ("long", "local-timestamp-micros"): t.TIMESTAMP,
}
_NAMED: Final = ("record", "error", "enum", "fixed")
_ORDERS: Final = ("ascending", "descending", "ignore")
# With it Spark reads numbers as intervals of its own.
_SPARKS: Final = "spark.sql.catalyst.type"


def record_of(text: str) -> t.Struct:
    """The record that a schema describes, by itself or in a union with null.

    Args:
        text: the schema, as JSON.

    Raises:
        SchemaProblem: it is not the schema of a record, or Spark could not read it.
    """
    try:
        schema = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SchemaProblem(f"it is not JSON: {error}") from error
    record = _Reader().read(schema, "", 0)[0]
    if not isinstance(record, t.Struct):
        raise SchemaProblem("it is not the schema of a record")
    return record


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"it has no {name}")


class _Reader:
    """Types of schemas; named ones can be used again by their name."""

    def __init__(self) -> None:
        # By full name; what a record holds is not known before its end.
        self._known: dict[str, tuple[Mapping[str, Any], t.DataType | None]] = {}

    def read(self, schema: object, space: str, depth: int) -> tuple[t.DataType, bool]:
        """A schema's type, and whether a value may be null; names without a namespace are in `space`."""
        if depth > _DEPTH:
            raise SchemaProblem(f"it is nested more than {_DEPTH} levels deep")
        if isinstance(schema, list):
            return self._union(schema, space, depth)
        if isinstance(schema, str):
            return self._by_name(schema, space), schema == "null"
        if isinstance(schema, dict):
            return self._complex(schema, space, depth), schema.get("type") == "null"
        raise SchemaProblem(f"{_short(schema)} is no type of Avro")

    def _union(self, branches: Sequence[object], space: str, depth: int) -> tuple[t.DataType, bool]:
        if any(isinstance(branch, list) for branch in branches):
            raise SchemaProblem("a union is the branch of another one")
        types = [self.read(branch, space, depth + 1)[0] for branch in branches]
        names = [_branch(branch, space) for branch in branches]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SchemaProblem(f"a union has two branches of `{twice}`")
        others = [type_ for type_ in types if type_ != t.NULL]
        if not others:
            raise SchemaProblem("a union has no type but null")
        # Only a column that asks for it has no type.
        union = t.Simple(f"a union of {' and '.join(n for n in names if n != 'null')}")
        return others[0] if len(others) == 1 else union, len(others) < len(types)

    def _by_name(self, name: str, space: str) -> t.DataType:
        if name in _PLAIN:
            return _PLAIN[name]
        # As Avro's parser: first that of the namespace.
        for full in (_full(name, space), name):
            if full in self._known:
                found = self._known[full][1]
                if found is None:
                    raise SchemaProblem(f"`{name}` holds itself, and no column's type can")
                return found
        raise SchemaProblem(f"{_short(name)} is no type of Avro, nor one that the schema has named by then")

    def _complex(self, schema: Mapping[str, Any], space: str, depth: int) -> t.DataType:
        kind = schema.get("type")
        if not isinstance(kind, str):
            raise SchemaProblem(f"`type` of {_short(schema)} is not the name of a type")
        if kind in _NAMED:
            return self._named(kind, schema, space, depth)
        if kind in ("array", "map"):
            part = "items" if kind == "array" else "values"
            if part not in schema:
                raise SchemaProblem(f"`{part}` of {_short(schema)} is missing")
            element, nullable = self.read(schema[part], space, depth + 1)
            return t.Array(element, nullable) if kind == "array" else t.Map(t.STRING, element, nullable)
        if kind in ("int", "long") and _SPARKS in schema:
            raise SchemaProblem(f"no column has a type for `{_SPARKS}`")
        if kind == "bytes":
            return _decimal(schema, None)
        logical = schema.get("logicalType")
        if isinstance(logical, str) and (kind, logical) in _LOGICAL:
            return _LOGICAL[kind, logical]
        return self._by_name(kind, space)

    def _named(self, kind: str, schema: Mapping[str, Any], space: str, depth: int) -> t.DataType:
        full = _full_of(schema, space)
        _aliases(schema)
        known = self._known.get(full)
        if known is not None:
            if known[0] == schema and known[1] is not None:
                return known[1]
            raise SchemaProblem(f"`{full}` is defined twice")
        self._known[full] = schema, None
        found: t.DataType
        if kind == "enum":
            found = _enum(schema)
        elif kind == "fixed":
            found = _decimal(schema, _size(schema))
        else:
            found = self._record(schema, full.rpartition(".")[0], depth)
        self._known[full] = schema, found
        return found

    def _record(self, schema: Mapping[str, Any], space: str, depth: int) -> t.Struct:
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise SchemaProblem(f"`fields` of {_short(schema)} is not a list")
        found: dict[str, t.StructField] = {}
        for field in fields:
            if not isinstance(field, dict) or "type" not in field:
                raise SchemaProblem(f"{_short(field)} is no field: it has no type")
            name = _name(field.get("name"))
            _aliases(field)
            if str(field.get("order", _ORDERS[0])).lower() not in _ORDERS:
                raise SchemaProblem(f"`order` of field `{name}` is none of {', '.join(_ORDERS)}")
            if name.lower() in found:
                raise SchemaProblem(f"it has two fields `{name}`, or by the case of their letters alone")
            found[name.lower()] = t.StructField(name, *self.read(field["type"], space, depth + 1))
        return t.Struct(tuple(found.values()))


def _enum(schema: Mapping[str, Any]) -> t.DataType:
    symbols = schema.get("symbols")
    if not isinstance(symbols, list):
        raise SchemaProblem(f"`symbols` of {_short(schema)} is not a list")
    names = [_name(symbol) for symbol in symbols]
    if len(set(names)) < len(names):
        raise SchemaProblem(f"{_short(schema)} has a symbol twice")
    if "default" in schema and schema["default"] not in names:
        raise SchemaProblem(f"`default` of {_short(schema)} is none of its symbols")
    return t.STRING


def _size(schema: Mapping[str, Any]) -> int:
    size = schema.get("size")
    if not _whole(size) or not 0 <= size <= _INT_MAX:
        raise SchemaProblem(f"`size` of {_short(schema)} is no number of bytes")
    return int(size)


def _decimal(schema: Mapping[str, Any], size: int | None) -> t.DataType:
    """A decimal of bytes; one that is not sound is just bytes, as the specification says."""
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if schema.get("logicalType") != "decimal" or not _whole(precision) or not _whole(scale):
        return t.BINARY
    if not 0 < precision <= _INT_MAX or not 0 <= scale <= precision:
        return t.BINARY
    # A size far beyond what a number of _DIGITS needs has room for all that are left.
    if size is not None and 10 ** min(precision, _DIGITS + 1) > 2 ** max(8 * min(size, 64) - 1, 0):
        return t.BINARY
    if precision > _DIGITS:
        raise SchemaProblem(f"a decimal has {precision} digits, and a column {_DIGITS} at most")
    return t.Decimal(precision, scale)


def _aliases(schema: Mapping[str, Any]) -> None:
    aliases = schema.get("aliases", [])
    if not isinstance(aliases, list):
        raise SchemaProblem(f"`aliases` of {_short(schema)} is not a list")
    for alias in aliases:
        for part in alias.split(".") if isinstance(alias, str) else [alias]:
            _name(part)


def _branch(branch: object, space: str) -> str:
    """What a branch of a union may be once: a kind of type, or a type with a name."""
    if isinstance(branch, dict):
        kind = str(branch.get("type"))
        return _full_of(branch, space) if kind in _NAMED else _branch(kind, space)
    return str(branch) if branch in (*_PLAIN, "array", "map") else _full(str(branch), space)


def _full_of(schema: Mapping[str, Any], space: str) -> str:
    """The full name of a named type."""
    name, given = schema.get("name"), schema.get("namespace")
    if not isinstance(name, str):
        raise SchemaProblem(f"{_short(schema)} has no name")
    full = _full(name, given if isinstance(given, str) else space).removeprefix(".")
    for part in full.split("."):
        _name(part)
    if full in _PLAIN:
        raise SchemaProblem(f"a type cannot be called `{full}`")
    return full


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _name(name: object) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise SchemaProblem(f"Avro has letters, digits and _ in a name, not {_short(name)}")
    return name


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(schema: object) -> str:
    """As much of a schema as tells it from others."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return f"`{text if len(text) <= 60 else f'{text[:60]}…'}`"
