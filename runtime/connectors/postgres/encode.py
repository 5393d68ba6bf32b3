"""Arrow columns as PostgreSQL's binary COPY takes them, without a Python object a value.

Each column becomes an Arrow array of byte strings, a length and a value each; Arrow joins them to rows, so
the buffer of the joined array is what goes over the wire. The formats are those of PostgreSQL's `…_recv`
functions (src/backend/utils/adt): integers are big-endian, times count microseconds from 2000, a numeric is a
list of digits to the base 10,000.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc

HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER: Final = b"\xff\xff"

_NULL: Final = pa.scalar(b"\xff\xff\xff\xff", pa.binary())
_NO_BYTES: Final = pa.scalar(b"", pa.binary())
_EPOCH_DAYS: Final = 10_957  # from 1970 to 2000
_EPOCH_MICROS: Final = _EPOCH_DAYS * 86_400_000_000
_BASE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a column is written.

    Args:
        name: PostgreSQL's name of the type, `array`, or `text` for all that are received as text.
        scale: digits behind the point of a numeric.
        precision: digits of a numeric in all.
        element: of an array, with `oid` as the type of its elements.
        oid: as above.
    """

    name: str
    scale: int = 0
    precision: int = 0
    element: Encoding | None = None
    oid: int = 0


class UnstorableValue(Exception):
    """A value that PostgreSQL cannot hold; the message says which column and what."""


def encode(batch: pa.RecordBatch, encodings: Sequence[Encoding]) -> memoryview:
    """The rows of a batch in the format of COPY … (FORMAT BINARY), without its header and trailer.

    Raises:
        UnstorableValue: a text has the character U+0000, or a uuid is none.
    """
    count = pa.scalar(len(encodings).to_bytes(2, "big"), pa.binary())
    columns = []
    for name, column, encoding in zip(batch.schema.names, batch.columns, encodings, strict=True):
        try:
            columns.append(_field(column, encoding))
        except UnstorableValue as error:
            raise UnstorableValue(f"column {name}: {error}") from error
    rows = pc.binary_join_element_wise(count, *columns, _NO_BYTES)
    return _bytes_of(rows)


def _field(column: pa.Array, encoding: Encoding) -> pa.Array:
    """A column as byte strings: four bytes of length and the value, or -1 for NULL."""
    encoded = _ENCODERS[encoding.name](column, encoding)
    return pc.if_else(column.is_valid(), encoded, _NULL) if column.null_count else encoded


def _bytes_of(column: pa.Array) -> memoryview:
    _, offsets, data = column.buffers()
    if data is None:
        return memoryview(b"")
    ends = np.frombuffer(offsets, np.int32)
    return memoryview(data)[ends[column.offset] : ends[column.offset + len(column)]]


def _fixed(rows: npt.NDArray[Any]) -> pa.Array:
    """Rows of a packed structured array as byte strings of one length."""
    width = rows.dtype.itemsize
    offsets = np.arange(0, (len(rows) + 1) * width, width, dtype=np.int32)
    return pa.Array.from_buffers(
        pa.binary(), len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(rows))]
    )


def _values(column: pa.Array, dtype: str) -> npt.NDArray[Any]:
    """A column without its NULLs, whose place is kept."""
    if column.null_count:
        column = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return np.asarray(column.to_numpy(zero_copy_only=False)).astype(dtype)


def _number(form: str, kind: pa.DataType) -> Callable[[pa.Array, Encoding], pa.Array]:
    def encoder(column: pa.Array, _encoding: Encoding) -> pa.Array:
        if not column.type.equals(kind):
            column = column.cast(kind)
        rows = np.empty(len(column), np.dtype([("n", ">i4"), ("v", form)]))
        rows["n"] = np.dtype(form).itemsize
        rows["v"] = _values(column, form)
        return _fixed(rows)

    return encoder


def _days(column: pa.Array, _encoding: Encoding) -> pa.Array:
    rows = np.empty(len(column), np.dtype([("n", ">i4"), ("v", ">i4")]))
    rows["n"] = 4
    rows["v"] = _values(column.cast(pa.date32()).cast(pa.int32()), "i4") - _EPOCH_DAYS
    return _fixed(rows)


def _instant(column: pa.Array, _encoding: Encoding) -> pa.Array:
    return _micros(_values(column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()), "i8"))


def _wall_clock(column: pa.Array, _encoding: Encoding) -> pa.Array:
    """What a clock in the column's own zone shows, which is the session's."""
    local = pc.local_timestamp(column) if column.type.tz else column
    return _micros(_values(local.cast(pa.timestamp("us")).cast(pa.int64()), "i8"))


def _micros(since_1970: npt.NDArray[Any]) -> pa.Array:
    rows = np.empty(len(since_1970), np.dtype([("n", ">i4"), ("v", ">i8")]))
    rows["n"] = 8
    rows["v"] = since_1970 - _EPOCH_MICROS
    return _fixed(rows)


def _interval(column: pa.Array, _encoding: Encoding) -> pa.Array:
    form = [("n", ">i4"), ("micros", ">i8"), ("days", ">i4"), ("months", ">i4")]
    rows = np.zeros(len(column), np.dtype(form))
    rows["n"] = 16
    rows["micros"] = _values(column.cast(pa.duration("us")).cast(pa.int64()), "i8")
    return _fixed(rows)


def _numeric(column: pa.Array, encoding: Encoding) -> pa.Array:
    """Long division of 128-bit numbers by 10,000, on pieces of 32 bits.

    The number of digits is that of the column's type; PostgreSQL takes off leading and trailing zeros.
    """
    behind = -(-encoding.scale // 4)
    digits = behind + -(-(encoding.precision - encoding.scale) // 4)
    padding = 4 * behind - encoding.scale
    column = column.cast(pa.decimal128(encoding.precision, encoding.scale))
    words = np.frombuffer(column.buffers()[1], "<u8").reshape(-1, 2)
    words = words[column.offset : column.offset + len(column)]
    low, high = words[:, 0].copy(), words[:, 1].copy()
    negative = (high >> np.uint64(63)).astype(bool)
    low[negative] = ~low[negative] + np.uint64(1)
    high[negative] = ~high[negative] + (low[negative] == 0)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    size = math.ceil((encoding.precision + padding) * math.log2(10) / 32)
    pieces = [low & mask, low >> half, high & mask, high >> half, np.zeros_like(low)][:size]
    carry = np.zeros_like(low)
    for place, piece in enumerate(pieces):
        product = piece * np.uint64(10**padding) + carry
        pieces[place], carry = product & mask, product >> half
    form = [("n", ">i4"), ("digits", ">i2"), ("weight", ">i2"), ("sign", ">u2"), ("scale", ">i2")]
    rows = np.empty(len(column), np.dtype([*form, ("d", ">i2", (digits,))]))
    rows["n"] = 8 + 2 * digits
    rows["digits"] = digits
    rows["weight"] = digits - behind - 1
    rows["sign"] = np.where(negative, 0x4000, 0)
    rows["scale"] = encoding.scale
    for digit in reversed(range(digits)):
        rest = np.zeros_like(low)
        for place in reversed(range(len(pieces))):
            current = (rest << half) | pieces[place]
            # numpy divides by a constant without dividing; its remainder has no such way.
            pieces[place] = current // np.uint64(_BASE)
            rest = current - pieces[place] * np.uint64(_BASE)
        rows["d"][:, digit] = rest
    return _fixed(rows)


def _bytes(column: pa.Array, _encoding: Encoding) -> pa.Array:
    values = column.cast(pa.binary())
    return pc.binary_join_element_wise(_lengths(values), values, _NO_BYTES)


def _text(column: pa.Array, encoding: Encoding) -> pa.Array:
    _refuse_nul(column)
    return _bytes(column, encoding)


def _jsonb(column: pa.Array, _encoding: Encoding) -> pa.Array:
    values = column.cast(pa.binary())
    version = pa.scalar(b"\x01", pa.binary())
    return pc.binary_join_element_wise(_lengths(values, 1), version, values, _NO_BYTES)


def _uuid(column: pa.Array, _encoding: Encoding) -> pa.Array:
    rows = np.zeros(len(column), np.dtype([("n", ">i4"), ("v", "V16")]))
    rows["n"] = 16
    for place, text in enumerate(column.to_pylist()):
        if text is not None:
            try:
                rows["v"][place] = uuid.UUID(text).bytes
            except ValueError as error:
                raise UnstorableValue(f"`{text}` is no uuid") from error
    return _fixed(rows)


def _lengths(values: pa.Array, more: int = 0) -> pa.Array:
    return _fixed((_values(pc.binary_length(values), "i4") + more).astype(">i4"))


def _array(column: pa.Array, encoding: Encoding) -> pa.Array:
    """A header a row; the elements of a row lie side by side already."""
    assert encoding.element is not None
    if pa.types.is_large_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    children = _field(column.values, encoding.element)
    ends = np.frombuffer(children.buffers()[1], np.int32)[children.offset :][offsets]
    data = children.buffers()[2]
    # A NULL list may still span elements; its bytes are replaced as a whole afterwards.
    elements = pa.Array.from_buffers(
        pa.binary(), len(column), [None, pa.py_buffer(np.ascontiguousarray(ends)), data or pa.py_buffer(b"")]
    )
    counts = np.diff(offsets)
    form = [("dimensions", ">i4"), ("nulls", ">i4"), ("oid", ">i4"), ("count", ">i4"), ("first", ">i4")]
    rows = np.empty(len(column), np.dtype(form))
    rows["dimensions"], rows["nulls"], rows["oid"] = 1, int(column.values.null_count > 0), encoding.oid
    rows["count"], rows["first"] = counts, 1
    # An array without elements has no dimension, and its header ends before the count.
    empty = pa.scalar(
        np.array([0, 0, encoding.oid], ">i4").tobytes(),
        pa.binary(),
    )
    heads = pc.if_else(pa.array(counts > 0), _fixed(rows), empty)
    value = pc.binary_join_element_wise(heads, elements, _NO_BYTES)
    return pc.binary_join_element_wise(_lengths(value), value, _NO_BYTES)


def _refuse_nul(column: pa.Array) -> None:
    data = column.buffers()[2]
    if data is not None and b"\0" in _bytes_of(column.cast(pa.binary())).tobytes():
        raise UnstorableValue("a text has the character U+0000, which PostgreSQL cannot hold")


_ENCODERS: Final[dict[str, Callable[[pa.Array, Encoding], pa.Array]]] = {
    "bool": _number(">i1", pa.bool_()),
    "int2": _number(">i2", pa.int16()),
    "int4": _number(">i4", pa.int32()),
    "int8": _number(">i8", pa.int64()),
    "float4": _number(">f4", pa.float32()),
    "float8": _number(">f8", pa.float64()),
    "numeric": _numeric,
    "date": _days,
    "timestamptz": _instant,
    "timestamp": _wall_clock,
    "interval": _interval,
    "text": _text,
    "bytea": _bytes,
    "uuid": _uuid,
    "jsonb": _jsonb,
    "array": _array,
}
