"""Avro schemas of a message's key or value: made of its columns as Flink does, or given and compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compiler.analysis.avro_schema import NAME, record_of
from compiler.analysis.message_fields import SchemaProblem, disagreements, held
from compiler.plan import types as t
from compiler.plan.schema import Field

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


def schema_of(fields: Mapping[str, Field]) -> str:
    """The schema that Flink makes of columns, as JSON: a column that may be NULL is a union with null first.

    Args:
        fields: by the names that they have in the message.

    Raises:
        SchemaProblem: a name or a type that Avro has not.
    """
    return json.dumps(_Maker().record("record", [(name, f.type, f.nullable) for name, f in fields.items()]))


class _Maker:
    """Schemas of types; each record has a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def record(self, name: str, fields: list[tuple[str, t.DataType, bool]]) -> dict[str, Any]:
        own, number = name, 2
        while own in self._taken:
            own, number = f"{name}_{number}", number + 1
        self._taken.add(own)
        made: list[dict[str, Any]] = []
        for field, type_, nullable in fields:
            if not NAME.fullmatch(field):
                raise SchemaProblem(f"Avro has letters, digits and _ in a name, not `{field}`")
            schema = self._optional(type_, nullable, f"{name}_{field}")
            made.append({"name": field, "type": schema, **({"default": None} if nullable else {})})
        return {"type": "record", "name": own, "fields": made}

    def _optional(self, type_: t.DataType, nullable: bool, name: str) -> object:
        schema = self._schema(type_, name)
        return ["null", schema] if nullable else schema

    def _schema(self, type_: t.DataType, name: str) -> object:
        match type_:
            case t.Decimal(precision=precision, scale=scale):
                return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
            case t.Timestamp(precision=precision):
                unit = "millis" if _precision(precision) == 3 else "micros"
                return {"type": "long", "logicalType": f"timestamp-{unit}"}
            case t.Array():
                return {"type": "array", "items": self._optional(type_.element, type_.contains_null, name)}
            case t.Map() if type_.key == t.STRING:
                values = self._optional(type_.value, type_.value_contains_null, name)
                return {"type": "map", "values": values}
            case t.Struct():
                return self.record(name, [(f.name, f.type, f.nullable) for f in type_.fields])
        if type_ == t.DATE:
            return {"type": "int", "logicalType": "date"}
        if type_ not in _PLAIN:
            raise SchemaProblem(f"Avro has no form for {type_}")
        return _PLAIN[type_]


def misfits(text: str, fields: Mapping[str, Field], written: bool) -> Iterator[str]:
    """What is wrong with columns under a schema that is given.

    Args:
        text: the schema, as JSON.
        fields: the columns by the names that they have in the message.
        written: whether they are written with it, rather than read.

    Raises:
        SchemaProblem: the text is no schema of a record.
    """
    yield from disagreements(record_of(text), fields, _held, written)


def _held(type_: t.DataType) -> t.DataType:
    """The type that a schema made of a column gives it."""
    return held(type_, _precision)


def _precision(digits: int) -> int:
    return 3 if digits <= 3 else 6
