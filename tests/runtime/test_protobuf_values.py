"""Protobuf messages as Arrow's values and back, without Spark: every kind of field, and what cannot be."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st
from protobuf_types import DESCRIPTORS, message

from compiler.jobplan.protobuf import message_type, needed_of
from runtime.connectors.kafka.protobuf_values import (
    MessageReader,
    MessageWriter,
    UnsendableRow,
    as_numbers,
)

INT_32, INT_64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
UINT_32, UINT_64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1).map(Decimal)
TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
# Each with the type of its column and values of it.
SCALARS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "double": (pa.float64(), st.floats(allow_nan=False)),
    "float": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "bool": (pa.bool_(), st.booleans()),
    "string": (pa.string(), TEXT),
    "bytes": (pa.binary(), st.binary(max_size=5)),
    **{kind: (pa.int32(), INT_32) for kind in ("int32", "sint32", "sfixed32")},
    **{kind: (pa.int64(), INT_64) for kind in ("int64", "sint64", "sfixed64")},
    **{kind: (pa.int64(), UINT_32) for kind in ("uint32", "fixed32")},
    **{kind: (pa.decimal128(20, 0), UINT_64) for kind in ("uint64", "fixed64")},
}
TIME = pa.timestamp("us", tz="UTC")
TIMES = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
PARTS = pa.struct([("seconds", pa.int64()), ("nanos", pa.int32())])
SPAN, SPANS = pa.duration("us"), st.integers(-(10**17), 10**17)
KIND, KINDS = pa.string(), st.sampled_from(["NONE", "BOOK", "FILM", "7", "-3"])
ITEM = pa.struct([("sku", pa.string()), ("count", pa.int32()), ("at", TIME), ("kind", KIND)])
ITEMS = st.fixed_dictionaries(
    {"sku": TEXT, "count": st.none() | INT_32, "at": st.none() | TIMES, "kind": KINDS}
)
WRAPPED = {
    "bool": "bool",
    "int32": "int32",
    "int64": "int64",
    "uint32": "uint32",
    "uint64": "uint64",
    "float": "float",
    "double": "double",
    "string": "string",
    "bytes": "bytes",
}


def pairs(keys: st.SearchStrategy[Any], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Maps as Arrow gives them, by their keys."""
    return st.dictionaries(keys, values, max_size=3).map(lambda found: sorted(found.items()))


COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    **{f"a_{kind}": found for kind, found in SCALARS.items()},
    **{f"o_{kind}": (type_, st.none() | values) for kind, (type_, values) in SCALARS.items()},
    **{f"r_{k}": (pa.list_(type_), st.lists(values, max_size=3)) for k, (type_, values) in SCALARS.items()},
    **{f"w_{w}": (SCALARS[kind][0], st.none() | SCALARS[kind][1]) for w, kind in WRAPPED.items()},
    "kind": (KIND, KINDS),
    "o_kind": (KIND, st.none() | KINDS),
    "r_kind": (pa.list_(KIND), st.lists(KINDS, max_size=3)),
    "item": (ITEM, st.none() | ITEMS),
    "items": (pa.list_(ITEM), st.lists(ITEMS, max_size=3)),
    "at": (TIME, st.none() | TIMES),
    "took": (SPAN, st.none() | SPANS),
    "times": (pa.list_(TIME), st.lists(TIMES, max_size=3)),
    "spans": (pa.list_(SPAN), st.lists(SPANS, max_size=3)),
    "m_int": (pa.map_(pa.string(), pa.int32()), pairs(TEXT, INT_32)),
    "m_item": (pa.map_(pa.int64(), ITEM), pairs(INT_64, ITEMS)),
    "m_kind": (pa.map_(pa.bool_(), KIND), pairs(st.booleans(), KINDS)),
    "m_time": (pa.map_(pa.int64(), TIME), pairs(UINT_32, TIMES)),
    # A message that holds itself, as deep as its column asks.
    "parent": (
        pa.struct([("a_int32", pa.int32()), ("parent", pa.struct([("one", pa.string())]))]),
        st.none()
        | st.fixed_dictionaries(
            {"a_int32": INT_32, "parent": st.none() | st.fixed_dictionaries({"one": st.none() | TEXT})}
        ),
    ),
    "one": (pa.string(), st.none() | TEXT),
}
TYPES = {name: type_ for name, (type_, _) in COLUMNS.items()}
ORDER = GetMessageClass(message_type(DESCRIPTORS, "shop.Order"))
ORDERS = needed_of(message_type(DESCRIPTORS, "shop.Order"))
READ, WRITE = MessageReader(ORDERS, "shop.Order", TYPES), MessageWriter(ORDERS, "shop.Order", TYPES)


@settings(max_examples=80, deadline=None)
@given(st.fixed_dictionaries({name: values for name, (_, values) in COLUMNS.items()}))
def test_what_is_written_is_read(row: dict[str, Any]) -> None:
    data = WRITE(row)
    assert data == WRITE(row)
    read = READ(data)
    assert read is not None
    assert dict(zip(TYPES, read, strict=True)) == row
    # What is read are values of the columns' types, and what Arrow gives back of them is written alike.
    arrays = [pa.array([value], type_) for value, type_ in zip(read, TYPES.values(), strict=True)]
    rows = pa.StructArray.from_arrays(arrays, list(TYPES))
    assert WRITE(rows.cast(as_numbers(rows.type)).to_pylist()[0]) == data


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40))
def test_whatever_bytes_are_read_are_a_message_or_none(data: bytes) -> None:
    read = READ(data)
    if read is not None:
        assert ORDER.FromString(data) is not None
        for value, type_ in zip(read, TYPES.values(), strict=True):
            pa.array([value], type_)


def one(name: str, type_: pa.DataType, data: bytes, of: str = "shop.Order") -> Any:
    """What is read into a single column: None of bytes that are bad, else a value in a list."""
    return MessageReader(DESCRIPTORS, of, {name: type_})(data)


def test_defaults_are_there_and_other_fields_are_null() -> None:
    read = READ(b"")
    assert read is not None
    found = dict(zip(TYPES, read, strict=True))
    assert {k: v for k, v in found.items() if k.startswith("a_")} == {
        **{f"a_{kind}": 0 for kind in SCALARS if kind not in ("string", "bytes")},
        "a_string": "",
        "a_bytes": b"",
    }
    assert found["kind"] == "NONE"
    assert {found[name] for name in TYPES if name[:2] in ("o_", "w_")} == {None}
    assert all(found[name] == [] for name in TYPES if name[:2] in ("r_", "m_"))


@pytest.mark.parametrize(
    ("name", "type_", "values", "read"),
    [
        # A column smaller than its field holds what it can.
        ("a_int32", pa.int8(), {"a_int32": 127}, 127),
        ("a_int32", pa.int8(), {"a_int32": 128}, None),
        ("a_uint32", pa.int32(), {"a_uint32": 2**31 - 1}, 2**31 - 1),
        ("a_uint32", pa.int32(), {"a_uint32": 2**31}, None),
        ("a_fixed64", pa.int64(), {"a_fixed64": 2**63 - 1}, 2**63 - 1),
        ("a_uint64", pa.int64(), {"a_uint64": 2**63}, None),
        ("r_int32", pa.list_(pa.int16()), {"r_int32": [1, 2**15]}, None),
        # A column greater than its field.
        ("a_int32", pa.int64(), {"a_int32": -5}, -5),
        ("a_int32", pa.decimal128(12, 2), {"a_int32": -5}, Decimal(-5)),
        ("a_int32", pa.float64(), {"a_int32": -5}, -5.0),
        # The first name of a number.
        ("kind", pa.string(), {"kind": 2}, "FILM"),
        # Nanoseconds are cut: of a time to the past, of a span to nothing.
        ("at", TIME, {"at": {"seconds": -1, "nanos": 999_999_999}}, -1),
        ("took", SPAN, {"took": {"seconds": -1, "nanos": -1999}}, -1_000_001),
        ("took", SPAN, {"took": {"seconds": 0, "nanos": -1999}}, -1),
        # Their fields, to the nanosecond.
        ("took", PARTS, {"took": {"seconds": 1, "nanos": 7}}, {"seconds": 1, "nanos": 7}),
        # What these types must not hold.
        ("at", TIME, {"at": {"nanos": -1}}, None),
        ("at", TIME, {"at": {"nanos": 10**9}}, None),
        ("at", TIME, {"at": {"seconds": 253_402_300_800}}, None),
        ("at", TIME, {"at": {"seconds": 2**63 - 1}}, None),
        ("took", SPAN, {"took": {"seconds": 1, "nanos": -1}}, None),
        ("took", SPAN, {"took": {"seconds": -1, "nanos": 1}}, None),
        ("took", SPAN, {"took": {"seconds": 315_576_000_001}}, None),
        # Names in another case.
        ("A_INT32", pa.int32(), {"a_int32": 3}, 3),
    ],
)
def test_values_of_messages_and_columns(name: str, type_: pa.DataType, values: Any, read: Any) -> None:
    found = one(name, type_, message("shop.Order", **values))
    assert found == (None if read is None else [read])
    if found is not None:
        pa.array(found, type_)


def test_messages_of_proto2() -> None:
    assert one("id", pa.int32(), b"", "old.Old") is None  # a required field is missing
    assert one("note", pa.string(), message("old.Old", id=1), "old.Old") == [None]
    # A closed enum has no other numbers.
    assert one("e", pa.string(), message("old.Old", id=1) + b"\x18\x05", "old.Old") == [None]
    with pytest.raises(UnsendableRow, match=r"e: old\.Closed has no value `5`"):
        MessageWriter(DESCRIPTORS, "old.Old", {"e": pa.string()})({"e": "5"})
    with pytest.raises(UnsendableRow, match="id: it is NULL"):
        MessageWriter(DESCRIPTORS, "old.Old", {"id": pa.int32()})({"id": None})


@pytest.mark.parametrize("data", [b"\x00", b"\xff\xff", b"\x0a\x05ab", b"\x0a\x01\xff"])
def test_bytes_that_are_no_message(data: bytes) -> None:
    assert one("one", pa.string(), data) is None


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"a_int32": (pa.int32(), None)}, "a_int32: it is NULL, which field `a_int32` cannot tell"),
        ({"r_int32": (pa.list_(pa.int32()), None)}, "r_int32: it is NULL"),
        ({"r_int32": (pa.list_(pa.int32()), [1, None])}, "r_int32: a part of it is NULL"),
        ({"items": (pa.list_(ITEM), [None])}, "items: a part of it is NULL"),
        ({"m_int": (pa.map_(pa.string(), pa.int32()), [("a", None)])}, "m_int: a part of it is NULL"),
        ({"m_item": (pa.map_(pa.int64(), ITEM), [(1, None)])}, "m_item: a part of it is NULL"),
        ({"item": (pa.struct([("sku", pa.string())]), {"sku": None})}, "item.sku: it is NULL"),
        ({"a_uint32": (pa.int64(), -1)}, "a_uint32: .*-1"),
        ({"a_uint64": (pa.decimal128(20, 0), Decimal(-1))}, "a_uint64: .*-1"),
        ({"a_uint32": (pa.int64(), 2**32)}, "a_uint32: .*4294967296"),
        ({"kind": (pa.string(), "CD")}, "kind: shop.Kind has no value `CD`"),
        ({"kind": (pa.string(), str(2**31))}, "kind: 2147483648 is not from"),
        ({"at": (TIME, 253_402_300_800_000_000)}, "at: 253402300800000000 is not from"),
        ({"took": (SPAN, 10**18)}, "took: .* is not from"),
        (
            {"one": (pa.string(), "a"), "two": (pa.int64(), 1)},
            "one: one and two have values, and are of one oneof",
        ),
    ],
)
def test_values_that_no_field_holds(columns: dict[str, tuple[pa.DataType, Any]], problem: str) -> None:
    write = MessageWriter(DESCRIPTORS, "shop.Order", {name: type_ for name, (type_, _) in columns.items()})
    with pytest.raises(UnsendableRow, match=problem):
        write({name: value for name, (_, value) in columns.items()})


def test_an_empty_message_is_another_than_none() -> None:
    row = dict.fromkeys(["item", "at", "took", "w_int32"])
    write = MessageWriter(DESCRIPTORS, "shop.Order", {name: TYPES[name] for name in row})
    assert write(row) == b""
    there = {"item": {"sku": "", "count": None, "at": None, "kind": "NONE"}, "at": 0, "took": 0, "w_int32": 0}
    found = ORDER.FromString(write(there))
    assert [found.HasField(name) for name in row] == [True] * 4
