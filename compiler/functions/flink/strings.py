"""Text: Flink's functions as Spark has them."""

from __future__ import annotations

from compiler.functions.flink.spec import Rewrite, alias, is_whole, rewrite

# What a value looks like in JSON. `to_json` takes structs only, and leaves fields out that are NULL.
JSON_TEXT = r"""regexp_replace(to_json(named_struct('v', {0})), '^\\{{"v":|\\}}\\z', '')"""


def json_text(name: str) -> str:
    """The JSON of a parameter, NULL for NULL."""
    return f"if({name} IS NULL, NULL, {JSON_TEXT.format(name)})"


_DECIMAL = r"'^[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?\\z'"
# The delimiter is text, not a pattern; an empty string has no parts.
_PARTS = r"if(s = '', NULL, get(split(s, concat('\\Q', {0}, '\\E'), -1), i))"

TABLE: tuple[Rewrite, ...] = (
    rewrite("split_index(s, code, i)", _PARTS.format("chr(code)"), fits=is_whole(1)),
    rewrite("split_index(s, d, i)", _PARTS.format("d")),
    rewrite("is_alpha(s)", r"coalesce(CAST(s AS STRING) RLIKE '^\\p{L}+\\z', FALSE)"),
    rewrite("is_digit(s)", r"coalesce(CAST(s AS STRING) RLIKE '^\\p{Nd}+\\z', FALSE)"),
    rewrite("is_decimal(s)", f"coalesce(CAST(s AS STRING) RLIKE {_DECIMAL}, FALSE)"),
    alias("to_base64", "base64"),
    rewrite("from_base64(s)", "CAST(unbase64(s) AS STRING)"),
    rewrite("sha224(s)", "sha2(s, 224)"),
    rewrite("sha256(s)", "sha2(s, 256)"),
    rewrite("sha384(s)", "sha2(s, 384)"),
    rewrite("sha512(s)", "sha2(s, 512)"),
    rewrite("typeof(x, force_serializable)", "typeof(x)", differs="the names are Spark's (`bigint`)"),
)
