"""Values of protobuf messages as Arrow's, and back, without Spark.

A reader or a writer is made once for a field and the Arrow type of its column, and called for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from compiler.jobplan.protobuf import (
    entry_of,
    enum_of,
    field_named,
    message_of,
    message_type,
    well_known,
)

# What Timestamp and Duration may hold, in microseconds: the years 1 to 9999, and 10,000 years.
_TIMES: Final = (-62_135_596_800_000_000, 253_402_300_799_999_999)
_SPANS: Final = (-315_576_000_000_000_000, 315_576_000_000_000_000)
_MICROS: Final = 1_000_000
_NANOS: Final = 1_000_000_000
_INT_32: Final = (-(2**31), 2**31 - 1)
# How many bits a column has that holds all numbers of a field's type; others need 32.
_BITS: Final = {
    FieldDescriptor.TYPE_UINT32: 33,
    FieldDescriptor.TYPE_FIXED32: 33,
    FieldDescriptor.TYPE_INT64: 64,
    FieldDescriptor.TYPE_SINT64: 64,
    FieldDescriptor.TYPE_SFIXED64: 64,
    FieldDescriptor.TYPE_UINT64: 65,
    FieldDescriptor.TYPE_FIXED64: 65,
}
_MESSAGES: Final = (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_GROUP)

Reader = Callable[[Any], Any]
Writer = Callable[[Any, Any], None]


class UnsendableRow(Exception):
    """A value that its field of the message cannot hold."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")


# --- reading


class MessageReader:
    """Reads messages of one type.

    Args:
        content: the descriptor, as a job plan embeds it.
        name: full name of the message's type.
        columns: the Arrow types of the columns by the names of their fields.
    """

    def __init__(self, content: bytes, name: str, columns: Mapping[str, pa.DataType]) -> None:
        message = message_type(content, name)
        self._class = GetMessageClass(message)
        self._readers = [_field_reader(_field(message, name), type_) for name, type_ in columns.items()]

    def __call__(self, data: bytes) -> list[Any] | None:
        """A value for each column; None if the bytes are no message, or a column cannot hold its value."""
        try:
            found = self._class.FromString(data)
            return [read(found) for read in self._readers] if found.IsInitialized() else None
        except (DecodeError, ValueError):
            return None


def _field(message: Descriptor, name: str) -> FieldDescriptor:
    field = field_named(message, name)
    assert field is not None, "the compiler has found it"
    return field


def _field_reader(field: FieldDescriptor, type_: pa.DataType) -> Reader:
    """From a message to a field's value."""
    name, entry = field.name, entry_of(field)
    if entry is not None:
        key, value = _value_reader(entry[0], type_.key_type), _value_reader(entry[1], type_.item_type)

        def read_map(message: Any) -> list[tuple[Any, Any]]:
            found = getattr(message, name)
            return [(key(k), value(found[k])) for k in sorted(found)]

        return read_map
    if field.is_repeated:
        element = _value_reader(field, type_.value_type)
        return lambda message: [element(value) for value in getattr(message, name)]
    one = _value_reader(field, type_)
    if field.has_presence:
        return lambda message: one(getattr(message, name)) if message.HasField(name) else None
    return lambda message: one(getattr(message, name))


def _value_reader(field: FieldDescriptor, type_: pa.DataType) -> Reader:
    """From a value of a field, or of a repeated field, to Arrow's."""
    if field.type in _MESSAGES:
        return _message_reader(message_of(field), type_)
    if field.type == FieldDescriptor.TYPE_ENUM:
        names = _names(enum_of(field))
        # A number that the descriptor does not know has no name.
        return lambda number: names.get(number) or str(number)
    if pa.types.is_integer(type_) and type_.bit_width < _BITS.get(field.type, 32):
        # What the column cannot hold is a bad record.
        bound = 1 << (type_.bit_width - 1)
        return lambda number: _within(number, -bound, bound - 1)
    if pa.types.is_decimal(type_):
        return Decimal
    return float if pa.types.is_floating(type_) else _same


def _names(enum: EnumDescriptor) -> dict[int, str]:
    """The name of each number; of several the first."""
    return {value.number: value.name for value in reversed(enum.values)}


def _message_reader(message: Descriptor, type_: pa.DataType) -> Reader:
    known = None if pa.types.is_struct(type_) else well_known(message)
    if known == "timestamp":
        return _micros_of_time
    if known == "duration":
        return _micros_of_span
    if known == "wrapper":
        value = _value_reader(message.fields_by_name["value"], type_)
        return lambda wrapper: value(wrapper.value)
    readers = [(part.name, _field_reader(_field(message, part.name), part.type)) for part in type_.fields]
    return lambda found: {name: read(found) for name, read in readers}


def _micros_of_time(time: Any) -> int:
    """Nanoseconds are cut, as Spark has none."""
    _within(time.nanos, 0, _NANOS - 1)
    return _within(time.seconds * _MICROS + time.nanos // 1000, *_TIMES)


def _micros_of_span(span: Any) -> int:
    _within(span.nanos, 0 if span.seconds > 0 else 1 - _NANOS, 0 if span.seconds < 0 else _NANOS - 1)
    # Towards zero, on either side of it.
    micros = span.nanos // 1000 if span.nanos >= 0 else -(-span.nanos // 1000)
    return _within(span.seconds * _MICROS + micros, *_SPANS)


def _within(number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise ValueError(f"{number} is not from {least} to {most}")
    return number


def _same(value: Any) -> Any:
    return value


# --- writing


class MessageWriter:
    """Writes messages of one type, the same bytes for the same values.

    Args:
        content: the descriptor, as a job plan embeds it.
        name: full name of the message's type.
        columns: the Arrow types of the columns by the names of their fields; times and spans are numbers of
            microseconds in what is written.
    """

    def __init__(self, content: bytes, name: str, columns: Mapping[str, pa.DataType]) -> None:
        message = message_type(content, name)
        self._class = GetMessageClass(message)
        self._fill = _filler(message, columns, "")

    def __call__(self, values: Mapping[str, Any]) -> bytes:
        """A message of values by the names of their columns.

        Raises:
            UnsendableRow: a field cannot hold its value.
        """
        message = self._class()
        self._fill(message, values)
        return message.SerializeToString(deterministic=True)


def _filler(message: Descriptor, columns: Mapping[str, pa.DataType], where: str) -> Writer:
    """Sets all fields of a message that there are columns for."""
    fields = {name: _field(message, name) for name in columns}
    writers = [
        (name, _field_writer(field, columns[name], f"{where}{name}")) for name, field in fields.items()
    ]
    of_one = [names for names in _oneofs(fields) if len(names) > 1]

    def fill(target: Any, values: Mapping[str, Any]) -> None:
        for names in of_one:
            given = [name for name in names if values[name] is not None]
            if len(given) > 1:
                problem = f"{' and '.join(given)} have values, and are of one oneof"
                raise UnsendableRow(where + given[0], problem)
        for name, write in writers:
            write(target, values[name])

    return fill


def _oneofs(fields: Mapping[str, FieldDescriptor]) -> list[list[str]]:
    """The columns of each oneof."""
    found: dict[str, list[str]] = {}
    for name, field in fields.items():
        if field.containing_oneof is not None:
            found.setdefault(field.containing_oneof.full_name, []).append(name)
    return list(found.values())


def _field_writer(field: FieldDescriptor, type_: pa.DataType, where: str) -> Writer:
    """From a message and a column's value to the message's field."""
    write = _present_writer(field, type_, where)
    optional = field.has_presence and not field.is_required

    def write_or_leave(message: Any, value: Any) -> None:
        if value is not None:
            try:
                write(message, value)
            except (TypeError, ValueError) as error:
                raise UnsendableRow(where, str(error)) from error
        elif not optional:
            raise UnsendableRow(where, f"it is NULL, which field `{field.name}` cannot tell from a value")

    return write_or_leave


def _present_writer(field: FieldDescriptor, type_: pa.DataType, where: str) -> Writer:
    name, entry = field.name, entry_of(field)
    if entry is not None:
        return _map_writer(name, entry, type_, where)
    if field.type in _MESSAGES:
        element = type_.value_type if field.is_repeated else type_
        fill = _message_writer(message_of(field), element, where)

        def write_all(message: Any, values: Sequence[Any]) -> None:
            for value in values:
                fill(getattr(message, name).add(), _there(value, where))

        def write_one(message: Any, value: Any) -> None:
            part = getattr(message, name)
            # A message without a value set is there all the same.
            part.SetInParent()
            fill(part, value)

        return write_all if field.is_repeated else write_one
    scalar = _scalar(field, where)
    if field.is_repeated:
        return lambda message, values: getattr(message, name).extend(
            [scalar(_there(v, where)) for v in values]
        )
    return lambda message, value: setattr(message, name, scalar(value))


def _map_writer(
    name: str, entry: tuple[FieldDescriptor, FieldDescriptor], type_: pa.DataType, where: str
) -> Writer:
    key, (_, value) = _scalar(entry[0], where), entry
    if value.type in _MESSAGES:
        fill = _message_writer(message_of(value), type_.item_type, where)

        def write_messages(message: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
            for k, v in pairs:
                fill(getattr(message, name)[key(k)], _there(v, where))

        return write_messages
    scalar = _scalar(value, where)

    def write_scalars(message: Any, pairs: Sequence[tuple[Any, Any]]) -> None:
        found = getattr(message, name)
        for k, v in pairs:
            found[key(k)] = scalar(_there(v, where))

    return write_scalars


def _there(value: Any, where: str) -> Any:
    if value is None:
        raise UnsendableRow(where, "a part of it is NULL, and a message has no such element or value")
    return value


def _message_writer(message: Descriptor, type_: pa.DataType, where: str) -> Writer:
    known = None if pa.types.is_struct(type_) else well_known(message)
    if known == "timestamp":
        return _write_time
    if known == "duration":
        return _write_span
    if known == "wrapper":
        scalar = _scalar(message.fields_by_name["value"], where)
        return lambda wrapper, value: setattr(wrapper, "value", scalar(value))
    return _filler(message, {part.name: part.type for part in type_.fields}, f"{where}.")


def _write_time(time: Any, micros: int) -> None:
    time.seconds, rest = divmod(_within(micros, *_TIMES), _MICROS)
    time.nanos = rest * 1000


def _write_span(span: Any, micros: int) -> None:
    seconds, rest = divmod(abs(_within(micros, *_SPANS)), _MICROS)
    sign = -1 if micros < 0 else 1
    span.seconds, span.nanos = sign * seconds, sign * rest * 1000


def _scalar(field: FieldDescriptor, where: str) -> Reader:
    """From a value of Arrow to one of a field."""
    if field.type == FieldDescriptor.TYPE_ENUM:
        return _enum_writer(enum_of(field), where)
    if field.type in (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64):
        return int
    return _same


def _enum_writer(enum: EnumDescriptor, where: str) -> Reader:
    """From a name of an enum to its number. What was read as a number, for it has no name, is one again."""
    numbers: dict[str, int] = {value.name: value.number for value in enum.values}
    closed: bool = enum.is_closed  # type: ignore[attr-defined]  # the stubs lack it

    def number(name: str) -> int:
        if name in numbers:
            return numbers[name]
        if not closed and name.removeprefix("-").isdecimal():
            return _within(int(name), *_INT_32)
        raise UnsendableRow(where, f"{enum.full_name} has no value `{name}`")

    return number


def as_numbers(type_: pa.DataType) -> pa.DataType:
    """A type with numbers of microseconds in place of times and spans: Python's would be slow to make."""
    if pa.types.is_timestamp(type_) or pa.types.is_duration(type_):
        return pa.int64()
    if pa.types.is_map(type_):
        return pa.map_(as_numbers(type_.key_type), as_numbers(type_.item_type))
    if pa.types.is_list(type_):
        return pa.list_(as_numbers(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(part.name, as_numbers(part.type)) for part in type_.fields])
    return type_
