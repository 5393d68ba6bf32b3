"""Schemas of Avro: those that columns make, and those that are given."""

from __future__ import annotations

import json
from typing import Any

import pytest
from avro_schemas import BROKEN, SOUND, record
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.analysis.avro import misfits, schema_of
from compiler.analysis.avro_schema import record_of
from compiler.analysis.message_fields import SchemaProblem
from compiler.plan import types as t
from compiler.plan.schema import Field

# What schemas are made of, so that many of them are almost sound.
WORDS = st.sampled_from(
    "null boolean int long float double string bytes record error enum fixed array map a b r n.m.r .e "
    "date decimal timestamp-millis local-timestamp-micros time-micros ascending".split()
)
KEYS = st.sampled_from(
    "type name namespace fields items values symbols size logicalType precision scale default aliases order "
    "doc spark.sql.catalyst.type".split()
)
LEAVES = WORDS | st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=5)
        | st.builds(record, inner)
        | st.builds(
            lambda kind, **parts: {"type": kind, "name": "x", **parts},
            st.sampled_from(["record", "enum", "fixed", "array", "map", "bytes", "long"]),
            fields=st.lists(st.builds(lambda n, s: {"name": n, "type": s}, WORDS, inner), max_size=3),
            symbols=inner,
            items=inner,
            values=inner,
            size=inner,
            logicalType=WORDS,
            precision=st.integers(-1, 50),
        )
    ),
    max_leaves=12,
)
COLUMNS = {
    "a": Field("a", t.INT, nullable=True),
    "b": Field("b", t.Struct((t.StructField("x", t.STRING),)), nullable=False),
}


@settings(max_examples=250, deadline=None)
@given(ANYTHING, st.booleans())
def test_whatever_json_is_given_is_a_schema_or_a_problem(value: Any, written: bool) -> None:
    try:
        found = list(misfits(json.dumps(value), COLUMNS, written))
    except SchemaProblem as problem:
        found = [str(problem)]
    assert all(found)


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"type": Infinity}', "[" * 100_000, "9" * 5000])
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(SchemaProblem, match="it is not JSON"):
        record_of(text)


def test_deep_schemas() -> None:
    deep: Any = "int"
    for _ in range(90):
        deep = {"type": "array", "items": deep}
    assert list(misfits(json.dumps(record(deep)), {"a": Field("a", t.INT)}, written=False))
    for _ in range(20):
        deep = {"type": "array", "items": deep}
    with pytest.raises(SchemaProblem, match="100 levels"):
        record_of(json.dumps(record(deep)))


@pytest.mark.parametrize("name", SOUND)
def test_sound_schemas(name: str) -> None:
    schema, fields = SOUND[name]
    assert ", ".join(f"{f.name}: {f.type}" for f in record_of(json.dumps(schema)).fields) == fields


@pytest.mark.parametrize("name", BROKEN)
def test_broken_schemas(name: str) -> None:
    schema, problem = BROKEN[name]
    with pytest.raises(SchemaProblem) as raised:
        record_of(json.dumps(schema))
    assert problem in str(raised.value)


PLAIN = st.sampled_from(
    [
        *(t.BOOLEAN, t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE, t.STRING, t.BINARY, t.DATE),
        *(t.Timestamp(0), t.Timestamp(3), t.Timestamp(5), t.TIMESTAMP, t.Decimal(7, 2)),
    ]
)
# Names that make others when they are joined: record_a and b, record and a_b.
NAMES = st.sampled_from(["a", "b", "a_b", "b_a", "a_2"])
TYPES: st.SearchStrategy[t.DataType] = st.recursive(
    PLAIN,
    lambda inner: (
        st.builds(t.Array, inner, st.booleans())
        | st.builds(t.Map, st.just(t.STRING), inner, st.booleans())
        | st.lists(
            st.builds(t.StructField, NAMES, inner, st.booleans()),
            min_size=1,
            max_size=3,
            unique_by=lambda f: f.name,
        ).map(lambda fields: t.Struct(tuple(fields)))
    ),
    max_leaves=6,
)
FIELDS = st.lists(
    st.builds(Field, NAMES, TYPES, nullable=st.booleans()), min_size=1, unique_by=lambda f: f.name
).map(lambda fields: {field.name: field for field in fields})


@settings(max_examples=100, deadline=None)
@given(FIELDS)
def test_what_columns_make_fits_them(fields: dict[str, Field]) -> None:
    schema = schema_of(fields)
    assert [f.name for f in record_of(schema).fields] == list(fields)
    for written in (False, True):
        assert list(misfits(schema, fields, written)) == []


def test_records_of_columns_have_names_of_their_own() -> None:
    inner = t.Struct((t.StructField("x", t.INT),))
    outer = t.Struct((t.StructField("b", inner),))
    text = schema_of({"a_b": Field("a_b", inner), "a": Field("a", outer)})
    assert [name for name in text.split('"') if name.startswith("record_")] == [
        "record_a_b",
        "record_a",
        "record_a_b_2",
    ]


@pytest.mark.parametrize(
    ("type_", "schema", "written", "problem"),
    [
        (t.TINYINT, "int", False, None),
        (t.TINYINT, "long", False, "greater than TINYINT"),
        (t.INT, "long", False, "greater than INT"),
        (t.BIGINT, "int", False, None),
        (t.BIGINT, "int", True, "greater than INT"),
        (t.INT, "long", True, "one type"),
        (t.Timestamp(0), {"type": "long", "logicalType": "timestamp-millis"}, False, None),
        (
            t.Timestamp(0),
            {"type": "long", "logicalType": "timestamp-micros"},
            False,
            "6 digits of the second",
        ),
        (t.TIMESTAMP, {"type": "long", "logicalType": "local-timestamp-micros"}, True, None),
        (t.BIGINT, {"type": "long", "logicalType": "time-micros"}, False, "TIME is not converted"),
        (t.INT, ["int", "string"], False, "a union of int and string is not converted"),
        (t.Array(t.INT, False), {"type": "array", "items": ["null", "int"]}, False, "may be NULL"),
        (t.Array(t.INT, False), {"type": "array", "items": ["null", "int"]}, True, None),
        (t.Array(t.INT, True), {"type": "array", "items": "int"}, True, "an element may be NULL"),
        (t.Timestamp(3), {"type": "long", "logicalType": "timestamp-micros"}, True, None),
    ],
)
def test_types_of_columns_and_fields(
    type_: t.DataType, schema: Any, written: bool, problem: str | None
) -> None:
    field = Field("a", type_, nullable=False)
    found = list(misfits(json.dumps(record(schema)), {"a": field}, written))
    assert (len(found) == 1 and problem in found[0]) if problem else not found
