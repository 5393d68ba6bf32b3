"""Message types for tests: what `protoc --include_imports --descriptor_set_out` would write of them."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import duration_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.message_factory import GetMessageClass

from compiler.jobplan.protobuf import message_type

SCALARS: Final = (
    *("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string"),
    *("bytes", "uint32", "sfixed32", "sfixed64", "sint32", "sint64"),
)
_NUMBERS: Final = {
    name: getattr(FieldDescriptorProto, f"TYPE_{name.upper()}") for name in (*SCALARS, "enum", "message")
}


def fields(message: DescriptorProto, *lines: str) -> None:
    """Adds fields, written much as in a .proto: `repeated .shop.Item items`, `optional int32 n`, `bool b`."""
    for line in lines:
        *labels, type_, name = line.split()
        field = message.field.add(name=name, number=len(message.field) + 1)
        field.label = FieldDescriptorProto.LABEL_OPTIONAL
        if type_.startswith("."):
            enum = type_.rsplit(".", 1)[-1] in ("Kind", "Closed")
            field.type = FieldDescriptorProto.TYPE_ENUM if enum else FieldDescriptorProto.TYPE_MESSAGE
            field.type_name = type_
        else:
            field.type = _NUMBERS[type_]
        for label in labels:
            if label == "repeated":
                field.label = FieldDescriptorProto.LABEL_REPEATED
            elif label == "required":
                field.label = FieldDescriptorProto.LABEL_REQUIRED
            elif label.startswith("oneof:"):
                field.oneof_index = _oneof(message, label.removeprefix("oneof:"))
            elif message.name != "Old":
                field.proto3_optional = True
                field.oneof_index = _oneof(message, f"_{name}")


def _oneof(message: DescriptorProto, name: str) -> int:
    names = [one.name for one in message.oneof_decl]
    if name not in names:
        message.oneof_decl.add(name=name)
        names.append(name)
    return names.index(name)


def map_field(message: DescriptorProto, package: str, name: str, key: str, value: str) -> None:
    """Adds a map, which is a list of messages with key and value."""
    entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
    fields(entry, f"{key} key", f"{value} value")
    entry.options.map_entry = True
    fields(message, f"repeated .{package}.{message.name}.{entry.name} {name}")


def _shop() -> FileDescriptorProto:
    file = FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    file.dependency.extend(f"google/protobuf/{n}.proto" for n in ("timestamp", "duration", "wrappers"))
    kind = EnumDescriptorProto(name="Kind")
    for number, name in enumerate(("NONE", "BOOK", "FILM")):
        kind.value.add(name=name, number=number)
    # A second name of one number.
    kind.options.allow_alias = True
    kind.value.add(name="MOVIE", number=2)
    file.enum_type.append(kind)
    item = file.message_type.add(name="Item")
    fields(item, "string sku", "optional int32 count", ".google.protobuf.Timestamp at", ".shop.Kind kind")
    order = file.message_type.add(name="Order")
    fields(
        order,
        # Oneofs of their own go before those of optional fields.
        *("oneof:either string one", "oneof:either int64 two"),
        *(f"{scalar} a_{scalar}" for scalar in SCALARS),
        *(f"optional {scalar} o_{scalar}" for scalar in SCALARS),
        *(f"repeated {scalar} r_{scalar}" for scalar in SCALARS),
        *(".shop.Kind kind", "optional .shop.Kind o_kind", "repeated .shop.Kind r_kind"),
        *(".shop.Item item", "repeated .shop.Item items"),
        *(".google.protobuf.Timestamp at", ".google.protobuf.Duration took"),
        *("repeated .google.protobuf.Timestamp times", "repeated .google.protobuf.Duration spans"),
        *(
            f".google.protobuf.{kind}Value w_{kind.lower()}"
            for kind in ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
        ),
        ".shop.Order parent",
    )
    for name, key, value in (
        ("m_int", "string", "int32"),
        ("m_item", "int64", ".shop.Item"),
        ("m_kind", "bool", ".shop.Kind"),
        ("m_time", "uint32", ".google.protobuf.Timestamp"),
    ):
        map_field(order, "shop", name, key, value)
    fields(file.message_type.add(name="Key"), "int64 id")
    sale = file.message_type.add(name="Sale")
    fields(sale, "int64 id", "optional string note", ".google.protobuf.Timestamp at", "repeated string tags")
    return file


def _old() -> FileDescriptorProto:
    file = FileDescriptorProto(name="old.proto", package="old", syntax="proto2")
    closed = EnumDescriptorProto(name="Closed")
    closed.value.add(name="FIRST", number=1)
    file.enum_type.append(closed)
    fields(
        file.message_type.add(name="Old"),
        "required int32 id",
        "optional string note",
        "optional .old.Closed e",
    )
    return file


def descriptor_set(*files: FileDescriptorProto) -> bytes:
    """The content of a file of descriptors, with the types that stand for values."""
    imported = [
        FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        for module in (timestamp_pb2, duration_pb2, wrappers_pb2)
    ]
    return FileDescriptorSet(file=[*imported, *files]).SerializeToString()


DESCRIPTORS: Final = descriptor_set(_shop(), _old())
"""Of shop.Order, which has a field of each kind, shop.Item, shop.Key, shop.Sale and old.Old."""


def message(name: str, **values: Any) -> bytes:
    """A message as bytes."""
    made = GetMessageClass(message_type(DESCRIPTORS, name))(**values)
    return made.SerializeToString(deterministic=True)
