"""Arrow columns as PostgreSQL's binary COPY takes them, without a Python object a value.

Each column becomes pieces, a length and a value: numpy's rows where all have as many bytes, else Arrow's
byte strings. numpy lays side by side what it has, Arrow joins it all to rows, and the buffer of the joined
array is what goes over the wire. The formats are those of PostgreSQL's `…_recv` functions
(src/backend/utils/adt): integers are big-endian, times count microseconds from 2000, a numeric is a list of
digits to the base 10,000.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, TypeAlias

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
_WORD_DIGITS: Final = 18  # that always fit into 64 bits with a sign

# Rows of one length in a packed array, or byte strings.
_Piece: TypeAlias = "npt.NDArray[Any] | pa.Array"


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
    pieces: list[_Piece] = [np.full(batch.num_rows, len(encodings), ">i2")]
    for name, column, encoding in zip(batch.schema.names, batch.columns, encodings, strict=True):
        try:
            pieces += _pieces(column, encoding)
        except UnstorableValue as error:
            raise UnstorableValue(f"column {name}: {error}") from error
    return _bytes_of(_joined(pieces))


def _pieces(column: pa.Array, encoding: Encoding) -> list[_Piece]:
    """A column as four bytes of length and the value, or as -1 for NULL."""
    pieces = _ENCODERS[encoding.name](column, encoding)
    return [pc.if_else(column.is_valid(), _joined(pieces), _NULL)] if column.null_count else pieces


def _joined(pieces: Sequence[_Piece]) -> pa.Array:
    """Pieces as one byte string a row. Arrow takes its time for each piece, so numpy joins its own before."""
    columns: list[pa.Array] = []
    for by_numpy, group in groupby(pieces, lambda piece: isinstance(piece, np.ndarray)):
        together = list(group)
        columns += [_fixed(_side_by_side(together))] if by_numpy else together
    return pc.binary_join_element_wise(*columns, _NO_BYTES) if len(columns) > 1 else columns[0]


def _side_by_side(rows: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len(rows) == 1:
        return rows[0]
    kinds = [f"V{part.dtype.itemsize}" for part in rows]
    joined = np.empty(len(rows[0]), np.dtype([(str(place), kind) for place, kind in enumerate(kinds)]))
    for place, (part, kind) in enumerate(zip(rows, kinds, strict=True)):
        joined[str(place)] = part.view(kind)
    return joined


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


def _number(form: str, kind: pa.DataType) -> Callable[[pa.Array, Encoding], list[_Piece]]:
    def encoder(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
        if not column.type.equals(kind):
            column = column.cast(kind)
        rows = np.empty(len(column), np.dtype([("n", ">i4"), ("v", form)]))
        rows["n"] = np.dtype(form).itemsize
        rows["v"] = _values(column, form)
        return [rows]

    return encoder


def _days(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
    rows = np.empty(len(column), np.dtype([("n", ">i4"), ("v", ">i4")]))
    rows["n"] = 4
    rows["v"] = _values(column.cast(pa.date32()).cast(pa.int32()), "i4") - _EPOCH_DAYS
    return [rows]


def _instant(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
    return _micros(_values(column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()), "i8"))


def _wall_clock(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
    """What a clock in the column's own zone shows, which is the session's."""
    local = pc.local_timestamp(column) if column.type.tz else column
    return _micros(_values(local.cast(pa.timestamp("us")).cast(pa.int64()), "i8"))


def _micros(since_1970: npt.NDArray[Any]) -> list[_Piece]:
    rows = np.empty(len(since_1970), np.dtype([("n", ">i4"), ("v", ">i8")]))
    rows["n"] = 8
    rows["v"] = since_1970 - _EPOCH_MICROS
    return [rows]


def _interval(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
    form = [("n", ">i4"), ("micros", ">i8"), ("days", ">i4"), ("months", ">i4")]
    rows = np.zeros(len(column), np.dtype(form))
    rows["n"] = 16
    rows["micros"] = _values(column.cast(pa.duration("us")).cast(pa.int64()), "i8")
    return [rows]


def _numeric(column: pa.Array, encoding: Encoding) -> list[_Piece]:
    """The number of digits is that of the column's type; PostgreSQL takes off leading and trailing zeros."""
    behind = -(-encoding.scale // 4)
    digits = behind + -(-(encoding.precision - encoding.scale) // 4)
    padding = 4 * behind - encoding.scale
    column = column.cast(pa.decimal128(encoding.precision, encoding.scale))
    words = np.frombuffer(column.buffers()[1], "<u8").reshape(-1, 2)
    words = words[column.offset : column.offset + len(column)]
    negative = (words[:, 1] >> np.uint64(63)).astype(bool)
    split = _split_word if encoding.precision + padding <= _WORD_DIGITS else _split_words
    form = [("n", ">i4"), ("digits", ">i2"), ("weight", ">i2"), ("sign", ">u2"), ("scale", ">i2")]
    rows = np.empty(len(column), np.dtype([*form, ("d", ">i2", (digits,))]))
    rows["n"] = 8 + 2 * digits
    rows["digits"] = digits
    rows["weight"] = digits - behind - 1
    rows["sign"] = np.where(negative, 0x4000, 0)
    rows["scale"] = encoding.scale
    for digit, values in zip(
        reversed(range(digits)), split(words, negative, padding, encoding.precision), strict=False
    ):
        rows["d"][:, digit] = values
    return [rows]


def _split_word(
    words: npt.NDArray[Any], _negative: npt.NDArray[Any], padding: int, _precision: int
) -> Iterator[npt.NDArray[Any]]:
    """Digits to the base 10,000, the last one first, of numbers that fit into a word with what pads them."""
    rest = np.abs(words[:, 0].view("i8")).view("u8") * np.uint64(10**padding)
    while True:
        quotient = rest // np.uint64(_BASE)
        yield rest - quotient * np.uint64(_BASE)
        rest = quotient


def _split_words(
    words: npt.NDArray[Any], negative: npt.NDArray[Any], padding: int, precision: int
) -> Iterator[npt.NDArray[Any]]:
    """As `_split_word`, by long division of 128-bit numbers on pieces of 32 bits."""
    low, high = words[:, 0].copy(), words[:, 1].copy()
    low[negative] = ~low[negative] + np.uint64(1)
    high[negative] = ~high[negative] + (low[negative] == 0)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    size = math.ceil((precision + padding) * math.log2(10) / 32)
    pieces = [low & mask, low >> half, high & mask, high >> half, np.zeros_like(low)][:size]
    carry = np.zeros_like(low)
    for place, piece in enumerate(pieces):
        product = piece * np.uint64(10**padding) + carry
        pieces[place], carry = product & mask, product >> half
    while True:
        rest = np.zeros_like(low)
        for place in reversed(range(len(pieces))):
            current = (rest << half) | pieces[place]
            # numpy divides by a constant without dividing; its remainder has no such way.
            pieces[place] = current // np.uint64(_BASE)
            rest = current - pieces[place] * np.uint64(_BASE)
        yield rest


def _bytes(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
    values = column.cast(pa.binary())
    return [_lengths(values), values]


def _text(column: pa.Array, encoding: Encoding) -> list[_Piece]:
    _refuse_nul(column)
    return _bytes(column, encoding)


def _jsonb(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
    values = column.cast(pa.binary())
    return [_lengths(values, 1), np.ones(len(column), np.uint8), values]


def _uuid(column: pa.Array, _encoding: Encoding) -> list[_Piece]:
    rows = np.zeros(len(column), np.dtype([("n", ">i4"), ("v", "V16")]))
    rows["n"] = 16
    for place, text in enumerate(column.to_pylist()):
        if text is not None:
            try:
                rows["v"][place] = uuid.UUID(text).bytes
            except ValueError as error:
                raise UnstorableValue(f"`{text}` is no uuid") from error
    return [rows]


def _lengths(values: pa.Array, more: int = 0) -> npt.NDArray[Any]:
    return (_values(pc.binary_length(values), "i4") + more).astype(">i4")


def _array(column: pa.Array, encoding: Encoding) -> list[_Piece]:
    """A header a row; the elements of a row lie side by side already."""
    assert encoding.element is not None
    if pa.types.is_large_list(column.type):
        column = column.cast(pa.list_(column.type.value_type))
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    children = _joined(_pieces(column.values, encoding.element))
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
    return [_lengths(value), value]


def _refuse_nul(column: pa.Array) -> None:
    data = column.buffers()[2]
    if data is not None and b"\0" in _bytes_of(column.cast(pa.binary())).tobytes():
        raise UnstorableValue("a text has the character U+0000, which PostgreSQL cannot hold")


_ENCODERS: Final[dict[str, Callable[[pa.Array, Encoding], list[_Piece]]]] = {
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
