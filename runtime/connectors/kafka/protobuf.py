"""Protobuf in messages, by functions over Arrow's arrays: Spark's own are not among its jars."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BooleanType, DataType, StructType

from compiler.jobplan.formats import DESCRIPTOR, MESSAGE_NAME
from compiler.jobplan.model import Options
from runtime.connectors.kafka.avro import WHOLE, nullable
from runtime.connectors.kafka.protobuf_values import MessageReader, MessageWriter, as_numbers

_UTC: Final = "UTC"


def read_protobuf(data: Column, options: Options, part: str, columns: Mapping[str, str]) -> Column:
    """Bytes as a struct of columns by their types. `is_broken` tells those that are no message.

    Args:
        data: the bytes.
        options: with the message's type.
        part: `key` or `value`.
        columns: types by the names of the fields.
    """
    fields = StructType()
    for name, type_ in columns.items():
        fields.add(name, DataType.fromDDL(nullable(type_)))
    returns = StructType([*fields]).add(WHOLE, BooleanType())
    types = {field.name: to_arrow_type(field.dataType, timezone=_UTC) for field in fields}
    content, name = _type_of(options, part)

    def read(batch: pa.Array) -> pa.Array:
        reader = _reader(content, name, tuple(types.items()))
        rows = [reader(value) if value is not None else None for value in batch.to_pylist()]
        nothing = [None] * len(types)
        values = list(zip(*(nothing if row is None else row for row in rows), strict=True)) or [()] * len(
            types
        )
        arrays = [pa.array(column, type_) for column, type_ in zip(values, types.values(), strict=True)]
        arrays.append(pa.array([None if row is None else True for row in rows], pa.bool_()))
        return pa.StructArray.from_arrays(arrays, [*types, WHOLE], mask=batch.is_null())

    return _called(read, returns, data)


def write_protobuf(row: Column, options: Options, part: str) -> Column:
    """A struct as bytes; NULL for none. A value that its field cannot hold fails the epoch."""
    content, name = _type_of(options, part)

    def write(batch: pa.Array) -> pa.Array:
        writer = _writer(content, name, tuple((field.name, field.type) for field in batch.type.fields))
        rows = batch.cast(as_numbers(batch.type)).to_pylist()
        return pa.array([writer(row) if row is not None else None for row in rows], pa.binary())

    return _called(write, "binary", row)


# A worker is given many batches of few types.
@lru_cache(maxsize=64)
def _reader(content: bytes, name: str, columns: tuple[tuple[str, pa.DataType], ...]) -> MessageReader:
    return MessageReader(content, name, dict(columns))


@lru_cache(maxsize=64)
def _writer(content: bytes, name: str, columns: tuple[tuple[str, pa.DataType], ...]) -> MessageWriter:
    return MessageWriter(content, name, dict(columns))


def _called(function: Any, returns: DataType | str, column: Column) -> Column:
    # Its kind follows from the types of the function, which no overload of PySpark's knows.
    make: Any = arrow_udf
    function.__annotations__ = {"batch": pa.Array, "return": pa.Array}
    found: Column = make(function, returns)(column)
    return found


def _type_of(options: Options, part: str) -> tuple[bytes, str]:
    """The descriptor of a message's type, and the type's name."""
    prefix = "" if part == "value" else "key."
    content = b64decode(str(options[f"{prefix}{DESCRIPTOR}"]))
    return content, str(options[f"{prefix}{MESSAGE_NAME}"])
