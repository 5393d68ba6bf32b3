"""Protobuf's descriptors, as the compiler checks them and the runtime reads and writes messages by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

WellKnown = Literal["timestamp", "duration", "wrapper"]

_SPANS: Mapping[str, WellKnown] = {
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.Duration": "duration",
}
_WRAPPED = ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
_WRAPPERS = frozenset(f"google.protobuf.{kind}Value" for kind in _WRAPPED)
_SPAN = {"seconds": FieldDescriptor.TYPE_INT64, "nanos": FieldDescriptor.TYPE_INT32}


class DescriptorProblem(ValueError):
    """Why a message type cannot be had of a file.

    Args:
        problem: in words.
        messages: the message types that the file has, if it lacks the one that was asked for.
    """

    def __init__(self, problem: str, messages: Iterable[str] = ()) -> None:
        super().__init__(problem)
        self.messages = tuple(messages)


def message_type(content: bytes, name: str) -> Descriptor:
    """A message type of a file that `protoc --descriptor_set_out --include_imports` has written.

    Args:
        content: of the file.
        name: full name of the type, `shop.Order`.

    Raises:
        DescriptorProblem: the content is no such file, lacks imports, or lacks the type.
    """
    try:
        files = FileDescriptorSet.FromString(content)
        ordered = _in_order({file.name: file for file in files.file})
    except (DecodeError, UnicodeDecodeError) as error:
        raise DescriptorProblem("it is not what `protoc --descriptor_set_out` writes") from error
    # A name that is no UTF-8 is bytes.
    if not all(isinstance(file.name, str) for file in files.file):
        raise DescriptorProblem("it is not what `protoc --descriptor_set_out` writes")
    # The pool's methods have no types.
    pool: Any = DescriptorPool()
    for file in ordered:
        try:
            pool.AddSerializedFile(file.SerializeToString())
        except (TypeError, UnicodeDecodeError) as error:
            raise DescriptorProblem(f"`{file.name}` in it is broken: {error}") from error
    try:
        found: Descriptor = pool.FindMessageTypeByName(name)
    except KeyError as error:
        names = [name for file in files.file for name in _names(file.package, file.message_type)]
        raise DescriptorProblem(f"it has no message type `{name}`", names) from error
    return found


def _in_order(files: Mapping[str, FileDescriptorProto]) -> list[FileDescriptorProto]:
    """Files after those that they import."""
    found: dict[str, FileDescriptorProto] = {}
    # A file stands twice: to be opened, and to be closed after what it imports.
    stack: list[tuple[str, str, bool]] = [(name, "", False) for name in reversed(list(files))]
    opened: set[str] = set()
    while stack:
        name, importer, closes = stack.pop()
        if closes:
            found[name] = files[name]
        elif name not in files:
            raise DescriptorProblem(
                f"it lacks `{name}`, which `{importer}` imports: `protoc --include_imports` puts it in"
            )
        elif name not in opened:
            opened.add(name)
            stack.append((name, importer, True))
            stack += [(other, name, False) for other in files[name].dependency]
    return list(found.values())


def _names(package: str, messages: Iterable[DescriptorProto]) -> Iterator[str]:
    for message in messages:
        name = f"{package}.{message.name}" if package else message.name
        yield name
        yield from _names(name, message.nested_type)


def needed_of(message: Descriptor) -> bytes:
    """The file with nothing but what a message type needs, the same for the same type."""
    files: dict[str, FileDescriptorProto] = {}
    stack = [message.file]
    while stack:
        file = stack.pop()
        if file.name not in files:
            files[file.name] = FileDescriptorProto.FromString(file.serialized_pb)
            # Comments, and where they stood.
            files[file.name].ClearField("source_code_info")
            stack += file.dependencies
    kept = FileDescriptorSet(file=_in_order(dict(sorted(files.items()))))
    return kept.SerializeToString(deterministic=True)


def field_named(message: Descriptor, name: str) -> FieldDescriptor | None:
    """The field for a column: the one with its name, else the first with it in another case."""
    same = [field for field in message.fields if field.name.lower() == name.lower()]
    return next((field for field in same if field.name == name), same[0] if same else None)


def message_of(field: FieldDescriptor) -> Descriptor:
    """The type of a field that is a message."""
    found: Descriptor | None = field.message_type
    assert found is not None
    return found


def enum_of(field: FieldDescriptor) -> EnumDescriptor:
    """The type of a field that is an enum."""
    found: EnumDescriptor | None = field.enum_type
    assert found is not None
    return found


def entry_of(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor] | None:
    """Key and value of a map's entries; None if the field is no map."""
    entry = field.message_type
    if entry is None or not entry.GetOptions().map_entry:
        return None
    parts = {part.name: part for part in entry.fields}
    return (parts["key"], parts["value"]) if set(parts) == {"key", "value"} else None


def well_known(message: Descriptor) -> WellKnown | None:
    """What a message type stands for, if it is one of those that stand for a value."""
    types = {field.name: field.type for field in message.fields}
    if message.full_name in _SPANS and types == _SPAN:
        return _SPANS[message.full_name]
    return "wrapper" if message.full_name in _WRAPPERS and list(types) == ["value"] else None
