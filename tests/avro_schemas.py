"""Schemas of Avro, sound and broken ones, for the compiler's tests and for those that ask Spark."""

from __future__ import annotations

from typing import Any, Final


def record(type_: Any, **more: Any) -> dict[str, Any]:
    """A record with one field."""
    return {"type": "record", "name": "r", "fields": [{"name": "a", "type": type_}], **more}


def _field(**more: Any) -> dict[str, Any]:
    return record("int", fields=[{"name": "a", "type": "int", **more}])


def _decimal(**more: Any) -> dict[str, Any]:
    return record({"type": "bytes", "logicalType": "decimal", **more})


def _fixed(**more: Any) -> dict[str, Any]:
    return record({"type": "fixed", "name": "f", **more})


def _enum(*symbols: Any, **more: Any) -> dict[str, Any]:
    return record({"type": "enum", "name": "e", "symbols": list(symbols), **more})


def _two(first: Any, second: Any, **more: Any) -> dict[str, Any]:
    return record("int", fields=[{"name": "a", "type": first}, {"name": "b", "type": second}], **more)


_E: Final = {"type": "enum", "name": "e", "symbols": ["A"]}
_F: Final = {"type": "fixed", "name": "f", "size": 2}

SOUND: Final[dict[str, tuple[Any, str]]] = {
    # Each with the type of its fields.
    "plain": (record("int"), "a: INT"),
    "no_fields": (record("int", fields=[]), ""),
    "error": (record("int", type="error"), "a: INT"),
    "spelt_out": (record({"type": "int"}), "a: INT"),
    "one_of_one": (record(["int"]), "a: INT"),
    "maybe": (record(["int", {"type": "null"}]), "a: INT"),
    "two_types": (record(["null", "int", "string"]), "a: a union of int and string"),
    "decimal": (_decimal(precision=5, scale=2), "a: DECIMAL(5,2)"),
    "whole_decimal": (_decimal(precision=5), "a: DECIMAL(5,0)"),
    "decimal_without_digits": (_decimal(), "a: BINARY"),
    "decimal_of_text": (_decimal(precision="5"), "a: BINARY"),
    "decimal_of_half": (_decimal(precision=5.0), "a: BINARY"),
    "decimal_of_scale": (_decimal(precision=2, scale=3), "a: BINARY"),
    "small_fixed": (_fixed(size=2, logicalType="decimal", precision=9), "a: BINARY"),
    "fixed_decimal": (_fixed(size=4, logicalType="decimal", precision=9), "a: DECIMAL(9,0)"),
    "empty_fixed": (_fixed(size=0), "a: BINARY"),
    "enum": (_enum("A", "B", default="B"), "a: STRING"),
    "no_symbols": (_enum(), "a: STRING"),
    "array": (record({"type": "array", "items": ["null", "int"]}), "a: ARRAY<INT>"),
    "map": (record({"type": "map", "values": "int"}), "a: MAP<STRING,INT>"),
    "long": (record({"type": "long", "logicalType": "date"}), "a: BIGINT"),
    "uuid": (record({"type": "string", "logicalType": "uuid"}), "a: STRING"),
    "local": (record({"type": "long", "logicalType": "local-timestamp-micros"}), "a: TIMESTAMP"),
    "nanos": (record({"type": "long", "logicalType": "timestamp-nanos"}), "a: BIGINT"),
    "time_micros": (record({"type": "long", "logicalType": "time-micros"}), "a: TIME"),
    "time_millis": (record({"type": "int", "logicalType": "time-millis"}), "a: INT"),
    "named_int": (record({"type": "int", "name": "x"}), "a: INT"),
    "odd_extras": (_field(doc={}, default="x", order="IGNORE"), "a: INT"),
    "odd_logical_type": (record("int", logicalType=5), "a: INT"),
    "primitive_in_a_namespace": (record("int", name="x.int"), "a: INT"),
    "namespace": (_two(_E, "n.m.e", namespace="n.m"), "a: STRING, b: STRING"),
    "name_with_namespace": (_two(_E, "e", name="n.m.r"), "a: STRING, b: STRING"),
    "own_namespace": (_two({**_E, "namespace": "q"}, "q.e", name="n.m.r"), "a: STRING, b: STRING"),
    "no_namespace": (_two({**_E, "namespace": ""}, "e", name="n.m.r"), "a: STRING, b: STRING"),
    "name_of_no_namespace": (_two({**_E, "name": ".e"}, "e", name="n.m.r"), "a: STRING, b: STRING"),
    "namespace_of_a_number": (record("int", namespace=5), "a: INT"),
    "reference": (_two(_F, {"type": "f"}), "a: BINARY, b: BINARY"),
    "same_twice": (_two(_F, _F), "a: BINARY, b: BINARY"),
    "in_a_union": (["null", record("int")], "a: INT"),
    "alone_in_a_union": ([record("int")], "a: INT"),
}

BROKEN: Final[dict[str, tuple[Any, str]]] = {
    # Each with a part of what is said of it.
    "text": ("int", "not the schema of a record"),
    "null": (None, "`null` is no type"),
    "empty": ({}, "is not the name of a type"),
    "empty_list": ([], "no type but null"),
    "number": (record(5), "`5` is no type"),
    "no_fields": ({"type": "record", "name": "r"}, "`fields` of"),
    "fields_of_text": (record("int", fields="a"), "`fields` of"),
    "field_of_text": (record("int", fields=["a"]), "is no field"),
    "field_without_name": (record("int", fields=[{"type": "int"}]), "letters, digits"),
    "field_name": (record("int", fields=[{"name": "a b", "type": "int"}]), "letters, digits"),
    "two_fields": (record("int", fields=[{"name": n, "type": "int"} for n in "aA"]), "two fields `A`"),
    "no_name": ({"type": "record", "fields": []}, "has no name"),
    "primitive": (record("int", name="int"), "cannot be called `int`"),
    "empty_part": (record("int", name="n..r"), "letters, digits"),
    "name_of_nothing": (record("int", name="r."), "letters, digits"),
    "namespace": (record("int", namespace="1 x"), "letters, digits"),
    "nested_type": (record({"type": {"type": "int"}}), "is not the name of a type"),
    "unknown": (record("foo"), "`foo` is no type"),
    "itself": (record(["null", "r"]), "`r` holds itself"),
    "other_namespace": (_two({**_E, "namespace": "q"}, "n.m.e", name="n.m.r"), "no type of Avro"),
    "twice": (_two(_F, {**_F, "size": 3}), "defined twice"),
    "union_in_union": (record(["null", ["int"]]), "branch of another"),
    "union_of_same": (record(["int", "int"]), "two branches of `int`"),
    "union_of_nulls": (record(["null", {"type": "null"}]), "two branches of `null`"),
    "decimal": (_decimal(precision=39), "39 digits"),
    "array": (record({"type": "array"}), "`items` of"),
    "map": (record({"type": "map"}), "`values` of"),
    "no_size": (_fixed(), "`size` of"),
    "size_of_text": (_fixed(size="4"), "`size` of"),
    "negative_size": (_fixed(size=-1), "`size` of"),
    "no_symbols": (record({"type": "enum", "name": "e"}), "`symbols` of"),
    "symbols": (_enum("A", "A"), "a symbol twice"),
    "symbol": (_enum("a b"), "letters, digits"),
    "enum_default": (_enum("A", default="B"), "none of its symbols"),
    "aliases": (record("int", aliases=3), "`aliases` of"),
    "alias": (_field(aliases=[5]), "letters, digits"),
    "order": (_field(order="up"), "`order` of field `a`"),
    "interval": (record({"type": "int", "spark.sql.catalyst.type": "interval year"}), "no column has a type"),
}
