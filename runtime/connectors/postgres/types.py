"""Which of PostgreSQL's types can hold which of Spark's, and how it is written there."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import types as t

from runtime.connectors.postgres.encode import Encoding

_INTEGRAL: dict[type[t.DataType], tuple[str, ...]] = {
    t.ByteType: ("int2", "int4", "int8"),
    t.ShortType: ("int2", "int4", "int8"),
    t.IntegerType: ("int4", "int8"),
    t.LongType: ("int8",),
}
_DIGITS: dict[type[t.DataType], int] = {t.ByteType: 3, t.ShortType: 5, t.IntegerType: 10, t.LongType: 19}
_SAME: dict[type[t.DataType], tuple[str, ...]] = {
    **_INTEGRAL,
    t.BooleanType: ("bool",),
    t.FloatType: ("float4", "float8"),
    t.DoubleType: ("float8",),
    t.DateType: ("date",),
    t.TimestampType: ("timestamptz", "timestamp"),
    t.DayTimeIntervalType: ("interval",),
    t.BinaryType: ("bytea",),
}
_TEXTS = ("text", "varchar", "bpchar", "name", "citext")
_JSON = ("jsonb", "json")
_NEW: dict[type[t.DataType], str] = {
    t.ByteType: "smallint",
    t.ShortType: "smallint",
    t.IntegerType: "integer",
    t.LongType: "bigint",
    t.BooleanType: "boolean",
    t.FloatType: "real",
    t.DoubleType: "double precision",
    t.DateType: "date",
    t.TimestampType: "timestamp with time zone",
    t.DayTimeIntervalType: "interval",
    t.BinaryType: "bytea",
    t.StringType: "text",
    t.MapType: "jsonb",
    t.StructType: "jsonb",
    t.VariantType: "jsonb",
}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column's type in a table.

    Args:
        name: PostgreSQL's internal name (`int4`, `_text` for an array), that of the base type of a domain.
        shown: as a person writes it, with its parameters.
        precision, scale: of a numeric that has them.
        is_enum: whether its values are labels.
        element: of an array.
        oid: of the type itself.
    """

    name: str
    shown: str
    precision: int | None = None
    scale: int | None = None
    is_enum: bool = False
    element: ColumnType | None = None
    oid: int = 0


def is_json(kind: t.DataType) -> bool:
    """Whether values of the type are written as JSON."""
    if isinstance(kind, t.ArrayType):
        return isinstance(kind.elementType, t.ArrayType) or is_json(kind.elementType)
    return isinstance(kind, (t.MapType, t.StructType, t.VariantType))


def new_type(kind: t.DataType) -> str | None:
    """The type of a column that is made for values of Spark's type; None if there is none."""
    if is_json(kind):
        return "jsonb"
    if isinstance(kind, t.ArrayType):
        element = new_type(kind.elementType)
        return f"{element}[]" if element else None
    if isinstance(kind, t.DecimalType):
        return f"numeric({kind.precision},{kind.scale})"
    return _NEW.get(type(kind))


def encoding(kind: t.DataType, column: ColumnType) -> Encoding | None:
    """How values of Spark's type are written into a column; None if it cannot hold all of them."""
    if is_json(kind):
        return _json(column)
    if isinstance(kind, t.ArrayType):
        element = encoding(kind.elementType, column.element) if column.element else None
        if element is None or column.element is None:
            return None
        return Encoding("array", element=element, oid=column.element.oid)
    if isinstance(kind, t.StringType):
        return Encoding("uuid") if column.name == "uuid" else _json(column)
    if column.name == "numeric":
        return _numeric(kind, column)
    return Encoding(column.name) if column.name in _SAME.get(type(kind), ()) else None


def _json(column: ColumnType) -> Encoding | None:
    if column.name == "jsonb":
        return Encoding("jsonb")
    return Encoding("text") if column.is_enum or column.name in (*_TEXTS, *_JSON) else None


def _numeric(kind: t.DataType, column: ColumnType) -> Encoding | None:
    if isinstance(kind, t.DecimalType):
        precision, scale = kind.precision, kind.scale
    elif type(kind) in _DIGITS:
        precision, scale = _DIGITS[type(kind)], 0
    else:
        return None
    if column.precision is not None and column.scale is not None:
        whole = column.precision - column.scale
        if column.scale < scale or whole < precision - scale:
            return None
    return Encoding("numeric", scale=scale, precision=precision)
