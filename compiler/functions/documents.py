"""JSON, CSV, XML and VARIANT: Spark 4.2, `jsonExpressions.scala` and its siblings, `xml/xpath.scala`.

A schema is a string that is written out; what it declares may be NULL, whatever it says
(`StructType.asNullable`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, Rule, aggregate, row
from compiler.functions.rules import text
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan import types as t

_BOUNDED_TEXT = re.compile(r"\b(?:VAR)?CHAR\s*\(", re.IGNORECASE)


def _type_of(source: str) -> t.DataType:
    """Reads a type, or the columns of a table, as they stand in a schema string."""
    from compiler.diagnostics.diagnostic import DiagnosticError
    from compiler.diagnostics.source import SourceFile
    from compiler.syntax.data_types import parse_type
    from compiler.syntax.fragment import Fragment

    if _BOUNDED_TEXT.search(source):
        # ExprUtils.evalTypeExpr refuses them (CharVarcharUtils.failIfHasCharVarchar).
        raise TypeProblem("a schema in a string has no CHAR(n) or VARCHAR(n): write STRING")

    def parse(written: str) -> t.DataType:
        return parse_type(Fragment.plain(SourceFile("schema", written), 0, len(written)))

    try:
        return parse(source)
    except DiagnosticError:
        pass
    try:
        return parse(f"STRUCT<{source}>")
    except DiagnosticError as error:
        raise TypeProblem(f"the schema cannot be read: {error}") from error


def _as_nullable(found: t.DataType) -> t.DataType:
    if isinstance(found, t.Array):
        return t.Array(_as_nullable(found.element))
    if isinstance(found, t.Map):
        return t.Map(_as_nullable(found.key), _as_nullable(found.value))
    if isinstance(found, t.Struct):
        return t.Struct(tuple(t.StructField(field.name, _as_nullable(field.type)) for field in found.fields))
    if isinstance(found, t.Timestamp):
        return t.TIMESTAMP
    return found


def _schema(args: Sequence[Arg], index: int) -> t.DataType:
    return _as_nullable(_type_of(text(args, index, "a schema")))


def _read_as(*allowed: type[t.DataType], variant: bool = False) -> Rule:
    def result(args: Sequence[Arg]) -> t.DataType:
        found = _schema(args, 1)
        if isinstance(found, allowed) or (variant and found == t.VARIANT):
            return found
        raise TypeProblem(f"a schema for this function cannot be {found}")

    return result


def _got(args: Sequence[Arg]) -> t.DataType:
    return _schema(args, 2) if len(args) == 3 else t.VARIANT


def _nested_kind(words: str, *allowed: type[t.DataType], variant: bool = False) -> k.Kind:
    def cast(found: t.DataType) -> t.DataType | None:
        right = isinstance(found, allowed) or (variant and found == t.VARIANT) or found == t.NULL
        return found if right else None

    return k.Kind(words, cast)


_ALWAYS = Nulls.ALWAYS
_SCHEMA = k.constant(k.TEXT)
_JSON_VALUE = _nested_kind("an ARRAY, a MAP, a STRUCT or a VARIANT", t.Array, t.Map, t.Struct, variant=True)
_XML_VALUE = _nested_kind("a STRUCT or a VARIANT", t.Struct, variant=True)
_NESTED = k.where("an ARRAY, a MAP or a STRUCT", lambda a: not t.is_atomic(a))
_PATH = k.constant(k.STR)


def _xpath(names: str, to: t.DataType) -> Row:
    return row(names, k.TEXT, _PATH, to=to, nulls=_ALWAYS)


TABLE: tuple[Row, ...] = (
    row(
        "from_json",
        k.TEXT,
        _SCHEMA,
        k.OPTIONS,
        to=_read_as(t.Array, t.Map, t.Struct, variant=True),
        optional=1,
        nulls=_ALWAYS,
    ),
    row("from_csv", k.TEXT, _SCHEMA, k.OPTIONS, to=_read_as(t.Struct), optional=1),
    row(
        "from_xml", k.TEXT, _SCHEMA, k.OPTIONS, to=_read_as(t.Struct, variant=True), optional=1, nulls=_ALWAYS
    ),
    row("get_json_object", k.TEXT, k.TEXT, to=t.STRING, nulls=_ALWAYS),
    row("json_array_length", k.TEXT, to=t.INT, nulls=_ALWAYS),
    row("json_object_keys", k.TEXT, to=t.Array(t.STRING), nulls=_ALWAYS),
    row(
        "schema_of_csv schema_of_json schema_of_xml",
        k.given(k.TEXT),
        k.OPTIONS,
        to=t.STRING,
        optional=1,
        nulls=Nulls.NEVER,
    ),
    row("to_csv", k.STRUCT, k.OPTIONS, to=t.STRING, optional=1, nulls=_ALWAYS),
    row("to_json", _JSON_VALUE, k.OPTIONS, to=t.STRING, optional=1, nulls=_ALWAYS),
    row("to_xml", _XML_VALUE, k.OPTIONS, to=t.STRING, optional=1, nulls=_ALWAYS),
    # XPath
    _xpath("xpath", t.Array(t.STRING)),
    _xpath("xpath_boolean", t.BOOLEAN),
    _xpath("xpath_double xpath_number", t.DOUBLE),
    _xpath("xpath_float", t.FLOAT),
    _xpath("xpath_int", t.INT),
    _xpath("xpath_long", t.BIGINT),
    _xpath("xpath_short", t.SMALLINT),
    _xpath("xpath_string", t.STRING),
    # VARIANT
    row("is_valid_variant", k.VARIANT, to=t.BOOLEAN),
    row("is_variant_null", k.VARIANT, to=t.BOOLEAN, nulls=Nulls.NEVER),
    row("parse_json", k.TEXT, to=t.VARIANT),
    row("try_parse_json", k.TEXT, to=t.VARIANT, nulls=_ALWAYS),
    row("schema_of_variant", k.VARIANT, to=t.STRING),
    aggregate("schema_of_variant_agg", k.VARIANT, to=t.STRING, nulls=Nulls.NEVER),
    row("to_variant_object", _NESTED, to=t.VARIANT),
    row("try_variant_get variant_get", k.VARIANT, k.TEXT, _SCHEMA, to=_got, optional=1, nulls=_ALWAYS),
)
