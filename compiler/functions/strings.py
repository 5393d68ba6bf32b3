"""Text: Spark 4.2, `stringExpressions.scala`, `regexpExpressions.scala`, `urlExpressions.scala`, `Mask`."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, forms, row, sig
from compiler.functions.rules import common_of, same_as
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan.types import BIGINT, BINARY, BOOLEAN, INT, NULL, STRING, Array, DataType, Map, is_atomic


def _concatenation(args: Sequence[Arg]) -> DataType:
    """Arrays join to an array, BINARY to BINARY, anything else to a STRING."""
    if any(isinstance(arg.type, Array) for arg in args):
        if any(arg.type == NULL for arg in args):
            raise TypeProblem("an ARRAY cannot be joined to an untyped NULL")
        return common_of(args)
    return BINARY if args and all(arg.type == BINARY for arg in args) else STRING


_ALWAYS = Nulls.ALWAYS
_PIECE = k.where(
    "a STRING or an ARRAY of them",
    lambda a: is_atomic(a) or (isinstance(a, Array) and is_atomic(a.element)),
    STRING,
)
_JOINED = k.Kind("a STRING, BINARY or ARRAY", lambda a: a if is_atomic(a) or isinstance(a, Array) else None)
_MASK = k.constant(k.TEXT)

TABLE: tuple[Row, ...] = (
    row("ascii", k.STR, to=INT),
    row("base64", k.BIN, to=STRING),
    row("bit_length octet_length", k.STR_OR_BIN, to=INT),
    row("btrim", k.STR, k.STR, to=STRING, optional=1),
    row("char chr", k.LONG, to=STRING),
    row("char_length character_length len length", k.STR_OR_BIN, to=INT),
    row("concat", to=_concatenation, rest=_JOINED),
    row("concat_ws", k.STR, to=STRING, rest=_PIECE),
    row("contains endswith startswith", k.STR, k.STR, to=BOOLEAN),
    row(
        "elt",
        k.INTEGER,
        k.STR_OR_BIN,
        to=lambda args: _concatenation(args[1:]),
        rest=k.STR_OR_BIN,
        nulls=_ALWAYS,
    ),
    row("encode", k.STR, k.STR, to=BINARY, nulls=_ALWAYS),
    row("find_in_set", k.STR, k.STR, to=INT),
    row(
        "format_number", k.NUMBER_ONLY, k.one_of("an INT or a STRING", INT, STRING), to=STRING, nulls=_ALWAYS
    ),
    row("format_string printf", k.STR, to=STRING, rest=k.ANY),
    row("ilike like", k.STR, k.STR, _MASK, to=BOOLEAN, optional=1),
    row("initcap", k.STR, to=STRING),
    row("instr", k.STR, k.STR, to=INT),
    row("is_valid_utf8", k.STR, to=BOOLEAN, nulls=_ALWAYS),
    row("lcase lower", k.STR, to=STRING),
    row("left", k.STR_OR_BIN, k.INTEGER, to=same_as(0)),
    row("levenshtein", k.STR, k.STR, k.INTEGER, to=INT, optional=1),
    row("locate position", k.STR, k.STR, k.INTEGER, to=INT, optional=1),
    forms(
        "lpad rpad",
        sig(k.BYTES_ONLY, k.INTEGER, to=BINARY),
        sig(k.BYTES_ONLY, k.INTEGER, k.BYTES_ONLY, to=BINARY),
        sig(k.STR, k.INTEGER, k.STR, to=STRING, optional=1),
    ),
    row("ltrim rtrim trim", k.STR, k.STR, to=STRING, optional=1),
    row("luhn_check", k.STR, to=BOOLEAN, nulls=_ALWAYS),
    row("make_valid_utf8 validate_utf8 try_validate_utf8", k.STR, to=STRING, nulls=_ALWAYS),
    row("mask", k.TEXT, _MASK, _MASK, _MASK, _MASK, to=STRING, optional=4, nulls=_ALWAYS),
    forms(
        "overlay",
        sig(k.BYTES_ONLY, k.BYTES_ONLY, k.INTEGER, k.INTEGER, to=BINARY, optional=1),
        sig(k.STR_NOT_BIN, k.STR_NOT_BIN, k.INTEGER, k.INTEGER, to=STRING, optional=1),
    ),
    row("parse_url try_parse_url", k.TEXT, k.TEXT, k.TEXT, to=STRING, optional=1, nulls=_ALWAYS),
    row("quote", k.STR, to=STRING, nulls=_ALWAYS),
    row("regexp regexp_like rlike", k.STR, k.STR, to=BOOLEAN),
    row("regexp_count", k.STR, k.STR, to=INT),
    row("regexp_extract", k.STR, k.STR, k.INTEGER, to=STRING, optional=1),
    row("regexp_extract_all", k.STR, k.STR, k.INTEGER, to=Array(STRING), optional=1),
    row("regexp_instr", k.STR, k.STR, k.INTEGER, to=INT, optional=1),
    row("regexp_replace", k.STR, k.STR, k.STR, k.constant(k.NUMBER_ONLY), to=STRING, optional=1),
    row("regexp_substr", k.STR, k.STR, to=STRING, nulls=_ALWAYS),
    row("repeat", k.STR, k.INTEGER, to=STRING),
    row("replace", k.STR, k.STR, k.STR, to=STRING, optional=1),
    row("reverse", _JOINED, to=_concatenation),
    row("right", k.STR, k.INTEGER, to=STRING, nulls=_ALWAYS),
    row("sentences", k.STR, k.STR, k.STR, to=Array(Array(STRING, False), False), optional=2, nulls=_ALWAYS),
    row("soundex", k.TEXT, to=STRING),
    row("space", k.INTEGER, to=STRING),
    row("split", k.STR, k.STR, k.INTEGER, to=Array(STRING, False), optional=1),
    row("split_part", k.STR, k.STR, k.INTEGER, to=STRING, nulls=_ALWAYS),
    row("str_to_map", k.TEXT, k.TEXT, k.TEXT, to=Map(STRING, STRING), optional=2),
    row("substr substring", k.STR_OR_BIN, k.INTEGER, k.INTEGER, to=same_as(0), optional=1),
    row("substring_index", k.STR, k.STR, k.INTEGER, to=STRING),
    row("to_binary try_to_binary", k.STR, k.constant(k.STR), to=BINARY, optional=1, nulls=_ALWAYS),
    row("translate", k.STR, k.STR, k.STR, to=STRING),
    row("ucase upper", k.STR, to=STRING),
    row("unbase64", k.STR, to=BINARY),
    row("url_decode url_encode try_url_decode", k.STR, to=STRING, nulls=_ALWAYS),
    row("bitmap_count", k.BYTES_ONLY, to=BIGINT),
)
