"""JSON: Flink's functions as Spark has them.

Values are found by `get_json_object`, which keeps numbers and the order of keys as they are written;
VARIANT, Spark's binary JSON, tells what kind of value it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from compiler.functions.flink.spec import Asked, Rewrite, literal, rewrite
from compiler.functions.flink.strings import json_text
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t
from compiler.plan.expr_sql import quote_string

_MODE = re.compile(r"(lax|strict)\s+", re.IGNORECASE)
_STEP = re.compile(
    r"""\.(?P<name>[\w\-]+)|\.?\[(?P<index>\d+)\]|\.?\[(?P<quote>['"])(?P<key>.*?)(?P=quote)\]"""
)


def _path(args: Sequence[Arg]) -> tuple[str, bool]:
    """A path as Spark writes it, quoted, and whether it is strict.

    Raises:
        TypeProblem: it is no literal, or has parts that Spark's paths have not.
    """
    written = literal(args, 1, "a JSON path")
    mode = _MODE.match(written)
    body = written[mode.end() :] if mode else written
    if not body.startswith("$"):
        raise TypeProblem(f"a JSON path begins with `$`, not `{written}`")
    spark, position = "$", 1
    while position < len(body):
        step = _STEP.match(body, position)
        if step is None:
            rest = body[position:]
            raise TypeProblem(f"`{rest}` of the path is not run: paths have .name, [number] and ['name']")
        key = step["name"] or step["key"]
        spark += f"[{step['index']}]" if step["index"] else f"['{key}']"
        position = step.end()
    return quote_string(spark), mode is not None and mode[1].lower() == "strict"


def _found(path: str) -> tuple[str, str, str]:
    """The value as text, the value as VARIANT, and whether it is an object or an array."""
    text = f"get_json_object(j, {path})"
    variant = f"try_variant_get(try_parse_json(j), {path}, 'variant')"
    nested = f"({text} RLIKE '^[\\\\[{{{{]' AND schema_of_variant({variant}) RLIKE '^(OBJECT|ARRAY)')"
    return text, variant, nested.replace("{{", "{")


def _otherwise(asked: Asked, event: str, to: t.DataType, function: str) -> str:
    """What is given `ON EMPTY` or `ON ERROR`."""
    if f"default_on_{event}" in asked.clauses:
        return f"CAST(default_on_{event} AS {to.sql})"
    if f"error_on_{event}" in asked.clauses:
        reason = "nothing is at the path" if event == "empty" else "the value cannot be read"
        return f"raise_error('{function}: {reason}')"
    for name, sql in (("empty_array", "'[]'"), ("empty_object", "'{}'")):
        if f"{name}_on_{event}" in asked.clauses:
            return sql
    return "NULL"


def _cases(path_is_strict: bool, value: str, failed: str, on_empty: str, on_error: str, text: str) -> str:
    """The value, and what stands in for it."""
    if on_empty == on_error == "NULL":
        return f"if({failed}, NULL, {value})"
    missing = on_error if path_is_strict else on_empty
    return (
        f"CASE WHEN j IS NULL THEN NULL WHEN try_parse_json(j) IS NULL THEN {on_error} "
        f"WHEN {text} IS NULL THEN {missing} WHEN {failed} THEN {on_error} "
        f"ELSE coalesce({value}, {on_error}) END"
    )


_RETURNED = (t.STRING, t.BOOLEAN, t.INT, t.BIGINT, t.DOUBLE)


def _value(asked: Asked) -> str:
    path, strict = _path(asked.args)
    text, _, nested = _found(path)
    to = asked.clauses["returning"].type if "returning" in asked.clauses else t.STRING
    if to not in _RETURNED:
        raise TypeProblem(f"RETURNING takes STRING, BOOLEAN, INTEGER or DOUBLE, not {to}")
    value = text if to == t.STRING else f"TRY_CAST({text} AS {to.sql})"
    on_empty = _otherwise(asked, "empty", to, "JSON_VALUE")
    on_error = _otherwise(asked, "error", to, "JSON_VALUE")
    return _cases(strict, value, nested, on_empty, on_error, text)


def _query(asked: Asked) -> str:
    path, strict = _path(asked.args)
    text, variant, nested = _found(path)
    on_empty = _otherwise(asked, "empty", t.STRING, "JSON_QUERY")
    on_error = _otherwise(asked, "error", t.STRING, "JSON_QUERY")
    if "with_conditional_wrapper" in asked.clauses:
        wrapped = f"concat('[', if({nested}, {text}, to_json({variant})), ']')"
        value, failed = f"if({nested} AND {text} LIKE '[%', {text}, {wrapped})", "FALSE"
    elif "with_wrapper" in asked.clauses or "with_unconditional_wrapper" in asked.clauses:
        value, failed = f"concat('[', if({nested}, {text}, to_json({variant})), ']')", "FALSE"
    else:
        value, failed = text, f"NOT coalesce({nested}, FALSE)"
    sql = _cases(strict, value, failed, on_empty, on_error, text)
    returning = asked.clauses.get("returning")
    if returning is None or returning.type == t.STRING:
        return sql
    if returning.type == t.Array(t.STRING):
        return f"from_json({sql}, 'ARRAY<STRING>')"
    raise TypeProblem(f"RETURNING takes STRING or ARRAY<STRING>, not {returning.type}")


def _exists(asked: Asked) -> str:
    path, strict = _path(asked.args)
    text, _, _ = _found(path)
    answers = {
        "true": "TRUE",
        "unknown": "CAST(NULL AS BOOLEAN)",
        "error": "raise_error('JSON_EXISTS failed')",
    }
    answer = next((sql for word, sql in answers.items() if f"{word}_on_error" in asked.clauses), None)
    if answer is None:
        return f"{text} IS NOT NULL"
    failed = "TRUE" if strict else "try_parse_json(j) IS NULL"
    return f"CASE WHEN {text} IS NOT NULL THEN TRUE WHEN {failed} THEN {answer} ELSE FALSE END"


def _item(asked: Asked, index: int, *, nulls: bool) -> str:
    """The JSON of an argument; with `nulls` NULL is JSON's null."""
    name = f"args{index}"
    text = name if index in asked.nested else json_text(name)
    return f"coalesce({text}, 'null')" if nulls else text


def _object(asked: Asked) -> str:
    if len(asked.args) % 2:
        raise TypeProblem("keys and values must come in pairs: KEY 'k' VALUE v")
    nulls = "absent_on_null" not in asked.clauses
    pairs: list[str] = []
    for index in range(0, len(asked.args), 2):
        key = quote_string(json.dumps(literal(asked.args, index, "a key"), ensure_ascii=False) + ":")
        pairs.append(f"concat({key}, {_item(asked, index + 1, nulls=nulls)})")
    return f"concat('{{', concat_ws(',', {', '.join(pairs)}), '}}')" if pairs else "'{}'"


def _array(asked: Asked) -> str:
    nulls = "null_on_null" in asked.clauses
    items = [_item(asked, index, nulls=nulls) for index in range(len(asked.args))]
    return f"concat('[', concat_ws(',', {', '.join(items)}), ']')" if items else "'[]'"


def _object_agg(asked: Asked) -> str:
    value = json_text("v") if "absent_on_null" in asked.clauses else f"coalesce({json_text('v')}, 'null')"
    pairs = f"array_sort(collect_list(concat({json_text('k')}, ':', {value})))"
    return f"concat('{{', array_join({pairs}, ','), '}}')"


def _array_agg(asked: Asked) -> str:
    value = f"coalesce({json_text('x')}, 'null')" if "null_on_null" in asked.clauses else json_text("x")
    return f"concat('[', array_join(collect_list({value}), ','), ']')"


_UNQUOTED = r"""if(s RLIKE '^".*"\\z', coalesce(get_json_object(concat('[', s, ']'), '$[0]'), s), s)"""
_PATHS = "paths have `.name`, `[number]` and `['name']`"

TABLE: tuple[Rewrite, ...] = (
    rewrite("json_value(j, path)", _value, differs=_PATHS),
    rewrite("json_query(j, path)", _query, differs=_PATHS),
    rewrite("json_exists(j, path)", _exists, differs=_PATHS),
    rewrite("json_string(x)", json_text("x")),
    rewrite("json_quote(s)", json_text("s")),
    rewrite("json_unquote(s)", _UNQUOTED),
    rewrite("json_object(*args)", _object),
    rewrite("json_array(*args)", _array),
    rewrite("json_objectagg(k, v)", _object_agg, aggregate=True, differs="keys are sorted"),
    rewrite("json_arrayagg(x)", _array_agg, aggregate=True, differs="in no certain order"),
    # `x IS JSON`, by the token rewrite of that name
    rewrite("is_json(s)", "try_parse_json(s) IS NOT NULL"),
    rewrite("is_json_object(s)", "coalesce(schema_of_variant(try_parse_json(s)) RLIKE '^OBJECT', FALSE)"),
    rewrite("is_json_array(s)", "coalesce(schema_of_variant(try_parse_json(s)) RLIKE '^ARRAY', FALSE)"),
    rewrite(
        "is_json_scalar(s)",
        "coalesce(NOT schema_of_variant(try_parse_json(s)) RLIKE '^(OBJECT|ARRAY)', FALSE)",
    ),
)

# Calls whose result is put into JSON_OBJECT and JSON_ARRAY as it is.
MAKES_JSON = frozenset({"json_object", "json_array", "json_objectagg", "json_arrayagg"})
