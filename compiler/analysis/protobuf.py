"""Columns of a message's key or value beside the fields of a protobuf message type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from compiler.analysis.message_fields import disagreements, held
from compiler.jobplan.protobuf import entry_of, field_named, message_of, well_known
from compiler.plan import types as t
from compiler.plan.schema import Field

_PLAIN: Final[Mapping[int, t.DataType]] = {
    FieldDescriptor.TYPE_BOOL: t.BOOLEAN,
    FieldDescriptor.TYPE_INT32: t.INT,
    FieldDescriptor.TYPE_SINT32: t.INT,
    FieldDescriptor.TYPE_SFIXED32: t.INT,
    FieldDescriptor.TYPE_INT64: t.BIGINT,
    FieldDescriptor.TYPE_SINT64: t.BIGINT,
    FieldDescriptor.TYPE_SFIXED64: t.BIGINT,
    FieldDescriptor.TYPE_FLOAT: t.FLOAT,
    FieldDescriptor.TYPE_DOUBLE: t.DOUBLE,
    FieldDescriptor.TYPE_STRING: t.STRING,
    FieldDescriptor.TYPE_BYTES: t.BINARY,
    FieldDescriptor.TYPE_ENUM: t.STRING,
}
_SMALL: Final = (t.TINYINT, t.SMALLINT, t.INT)
_UNSIGNED_64: Final = t.Decimal(20, 0)


def misfits(message: Descriptor, fields: Mapping[str, Field], written: bool) -> Iterator[str]:
    """What is wrong with columns under a message type.

    Args:
        message: the type.
        fields: the columns by the names that they have in the message.
        written: whether they are written with it, rather than read.
    """
    found: dict[str, t.StructField] = {}
    for name, column in fields.items():
        field = field_named(message, name)
        if field is not None:
            type_ = _Types(written).of(field, column.type)
            found[name.lower()] = t.StructField(name, type_, _may_be_null(field))
    for field in message.fields:
        # What no column asks for may be whatever it is.
        found.setdefault(field.name.lower(), t.StructField(field.name, t.NULL, not field.is_required))
    yield from disagreements(t.Struct(tuple(found.values())), fields, _held, written)


def _held(type_: t.DataType) -> t.DataType:
    """The type of the field that a column's values fit: timestamps have one precision, which is cut to 6."""
    return held(type_, lambda _digits: 6)


def _may_be_null(field: FieldDescriptor) -> bool:
    """Whether a message can be without the field: else it has a default there, or no elements."""
    return bool(field.has_presence) and not field.is_required


class _Types:
    """Types of fields. Those of columns say which fields of nested messages are asked for.

    What a sink has nested may be NULL as far as is known; where a message cannot hold one, its row cannot be
    sent.
    """

    def __init__(self, written: bool) -> None:
        self._written = written

    def of(self, field: FieldDescriptor, column: t.DataType | None) -> t.DataType:
        """The type of a field, as far as a column asks for it."""
        entry = entry_of(field)
        if entry is not None:
            wanted = (column.key, column.value) if isinstance(column, t.Map) else (None, None)
            return t.Map(self._one(entry[0], wanted[0]), self._one(entry[1], wanted[1]), self._written)
        if field.is_repeated:
            element = column.element if isinstance(column, t.Array) else None
            return t.Array(self._one(field, element), self._written)
        return self._one(field, column)

    def _one(self, field: FieldDescriptor, column: t.DataType | None) -> t.DataType:
        if field.type in _PLAIN:
            return _PLAIN[field.type]
        if field.type in (FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32):
            # What is too great for INT is a bad record, or a row that cannot be sent.
            return t.INT if column in _SMALL else t.BIGINT
        if field.type in (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64):
            return t.BIGINT if column in t.INTEGRAL else _UNSIGNED_64
        message = message_of(field)
        # Who asks for the fields of such a message gets them.
        known = None if isinstance(column, t.Struct) else well_known(message)
        if known == "wrapper":
            return self._one(message.fields_by_name["value"], column)
        if known is not None:
            return t.TIMESTAMP if known == "timestamp" else t.DAY_TIME
        if column is None:
            # Nobody asks for it, and it may hold itself.
            return t.Simple(f"message {message.full_name}")
        return self._struct(message, column.fields if isinstance(column, t.Struct) else ())

    def _struct(self, message: Descriptor, asked: Sequence[t.StructField]) -> t.DataType:
        """A message with the fields that are asked for, or with all if it lacks one of them."""
        found = [(part.name, field_named(message, part.name), part.type) for part in asked]
        chosen = [(name, field, type_) for name, field, type_ in found if field is not None]
        if not chosen or len(chosen) < len(found):
            parts = [(field.name, field, self.of(field, None)) for field in message.fields]
        else:
            parts = [(name, field, self.of(field, type_)) for name, field, type_ in chosen]
        return t.Struct(
            tuple(t.StructField(n, type_, self._written or _may_be_null(f)) for n, f, type_ in parts)
        )
