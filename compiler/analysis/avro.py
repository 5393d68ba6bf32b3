"""Avro schemas of a message's key or value: made of its columns as Flink does, or given and compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compiler.analysis.fits import misfit
from compiler.plan import types as t
from compiler.plan.schema import Field

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN: Final[Mapping[t.DataType, str]] = {
    t.BOOLEAN: "boolean",
    t.TINYINT: "int",
    t.SMALLINT: "int",
    t.INT: "int",
    t.BIGINT: "long",
    t.FLOAT: "float",
    t.DOUBLE: "double",
    t.STRING: "string",
    t.BINARY: "bytes",
}
_READ: Final[Mapping[str, t.DataType]] = {
    "null": t.NULL,
    "boolean": t.BOOLEAN,
    "int": t.INT,
    "long": t.BIGINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "string": t.STRING,
    "bytes": t.BINARY,
    "enum": t.STRING,
    "fixed": t.BINARY,
}


class SchemaProblem(ValueError):
    """Why columns have no schema, or a text is none that can be read."""


def schema_of(fields: Mapping[str, Field]) -> str:
    """The schema that Flink makes of columns, as JSON: a column that may be NULL is a union with null first.

    Args:
        fields: by the names that they have in the message.

    Raises:
        SchemaProblem: a name or a type that Avro has not.
    """
    return json.dumps(_record("record", [(name, f.type, f.nullable) for name, f in fields.items()]))


def _record(name: str, fields: list[tuple[str, t.DataType, bool]]) -> dict[str, Any]:
    for field, _, _ in fields:
        if not _NAME.fullmatch(field):
            raise SchemaProblem(f"Avro has letters, digits and _ in a name, not `{field}`")
    made: list[dict[str, Any]] = []
    for field, type_, nullable in fields:
        # The name of a record must be its own in the whole schema.
        schema = _schema(type_, f"{name}_{field}")
        made.append({"name": field, "type": ["null", schema], "default": None} if nullable else
                    {"name": field, "type": schema})  # fmt: skip
    return {"type": "record", "name": name, "fields": made}


def _schema(type_: t.DataType, name: str) -> object:
    match type_:
        case t.Decimal(precision=precision, scale=scale):
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        case t.Timestamp(precision=precision):
            return {"type": "long", "logicalType": f"timestamp-{'millis' if precision <= 3 else 'micros'}"}
        case t.Array():
            return {"type": "array", "items": _optional(type_.element, type_.contains_null, name)}
        case t.Map() if type_.key == t.STRING:
            return {"type": "map", "values": _optional(type_.value, type_.value_contains_null, name)}
        case t.Struct():
            return _record(name, [(f.name, f.type, f.nullable) for f in type_.fields])
    if type_ == t.DATE:
        return {"type": "int", "logicalType": "date"}
    if type_ not in _PLAIN:
        raise SchemaProblem(f"Avro has no form for {type_}")
    return _PLAIN[type_]


def _optional(type_: t.DataType, nullable: bool, name: str) -> object:
    schema = _schema(type_, name)
    return ["null", schema] if nullable else schema


def misfits(text: str, fields: Mapping[str, Field], written: bool) -> Iterator[str]:
    """What is wrong with columns under a schema that is given.

    Args:
        text: the schema, as JSON.
        fields: the columns by the names that they have in the message.
        written: whether they are written with it, rather than read.

    Raises:
        SchemaProblem: the text is no schema of a record.
    """
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise SchemaProblem(f"it is not JSON: {error}") from error
    record = _Reader().read(schema)[0]
    if not isinstance(record, t.Struct):
        raise SchemaProblem("it is not the schema of a record")
    for name, field in fields.items():
        there = record.field(name)
        if there is None:
            names = ", ".join(f.name for f in record.fields)
            yield f"the schema has no field `{name}`; it has {names}"
            continue
        reason = misfit(field.type, there.type) if written else misfit(there.type, field.type)
        if reason is None and written and misfit(there.type, field.type) is not None:
            reason = "they must be of one type"
        if reason is not None:
            yield f"column `{field.name}` is {field.type}, its field is {there.type}: {reason}"
        elif written and field.nullable and not there.nullable:
            yield f"column `{field.name}` may be NULL, its field may not"
    if written:
        known = {name.lower() for name in fields}
        for part in record.fields:
            if part.name.lower() not in known and not part.nullable:
                yield f"no column gives the field `{part.name}` a value, and it must have one"


class _Reader:
    """Types of schemas; named ones can be used again by their name."""

    def __init__(self) -> None:
        self._named: dict[str, t.DataType] = {}

    def read(self, schema: object) -> tuple[t.DataType, bool]:
        """A schema's type, and whether a value may be null."""
        match schema:
            case list():
                others = [part for part in schema if part != "null"]
                if len(others) != 1:
                    raise SchemaProblem(f"a union of {len(others)} types has no column type")
                return self.read(others[0])[0], len(others) < len(schema)
            case str() if schema in _READ:
                return _READ[schema], schema == "null"
            case str() if schema in self._named:
                return self._named[schema], False
            case dict():
                return self._complex(schema), False
        raise SchemaProblem(f"`{schema}` is no type of Avro, or one that holds itself")

    def _complex(self, schema: Mapping[str, Any]) -> t.DataType:
        kind = schema.get("type")
        found: t.DataType
        match kind, schema.get("logicalType"):
            case "int", "date":
                return t.DATE
            case "long", "timestamp-millis":
                return t.Timestamp(3)
            case "long", "timestamp-micros":
                return t.TIMESTAMP
            case (("bytes" | "fixed"), "decimal"):
                return t.Decimal(int(schema.get("precision", 0)), int(schema.get("scale", 0)))
            case "array", _:
                element, nullable = self.read(schema.get("items"))
                return t.Array(element, nullable)
            case "map", _:
                value, nullable = self.read(schema.get("values"))
                return t.Map(t.STRING, value, nullable)
            case "record", _:
                parts = [(str(f.get("name")), *self.read(f.get("type"))) for f in schema.get("fields", ())]
                found = t.Struct(tuple(t.StructField(*part) for part in parts))
            case _:
                found = self.read(kind)[0]
        if "name" in schema:
            self._named[str(schema["name"])] = found
        return found
