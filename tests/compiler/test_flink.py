"""Flink's functions: each call has the value that Flink's documentation gives, computed by Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from test_functions_spark import covers, from_spark

from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.scope import Scope
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.diagnostics.source import SourceFile
from compiler.functions import FUNCTIONS
from compiler.functions.flink import DIFFERS, NOT_RUN, REWRITES, SAME
from compiler.plan import types as t
from compiler.plan.expr import Expr, is_aggregate
from compiler.plan.expr_sql import to_sql
from compiler.syntax.dialect import parse_expression
from compiler.syntax.fragment import Fragment

LINES = (Path(__file__).parent / "functions/flink.txt").read_text(encoding="utf-8").splitlines()
CALLS = [tuple(line.rsplit(" -> ", 1)) for line in LINES if line and not line.startswith("#")]
# A map is written with an arrow of its own.
EXAMPLES = [
    (f"{call}", value) if " -> {" not in call else tuple(f"{call} -> {value}".split(" -> ", 1))
    for call, value in CALLS
]


def bound(call: str) -> Expr:
    """A call as it stands in a SELECT over a relation without columns."""
    parsed = parse_expression(Fragment.plain(SourceFile("call", call), 0, len(call)))
    return ExpressionBinder(Scope(()), parsed.fragment, "SELECT", aggregates=True).bind(parsed.tree)


Found = dict[str, tuple[t.DataType, str | None]]


@pytest.fixture(scope="module")
def spark(session: SparkSession) -> Found:
    """Type and value of each call by Spark, which is asked for many at a time."""
    found: Found = {}
    groups: dict[bool, list[str]] = {False: [], True: []}
    for call, _ in EXAMPLES:
        groups[is_aggregate(bound(call))].append(call)
    for group in groups.values():
        for start in range(0, len(group), 30):
            calls = group[start : start + 30]
            rows = session.sql(
                "SELECT " + ", ".join(f"{to_sql(bound(c))} AS c{i}" for i, c in enumerate(calls))
            )
            values = rows.selectExpr(*(f"CAST(c{i} AS STRING)" for i in range(len(calls)))).first()
            assert values is not None
            types = [from_spark(field.dataType.jsonValue()) for field in rows.schema.fields]
            found.update(zip(calls, zip(types, values, strict=True), strict=True))
    return found


@pytest.mark.parametrize(("call", "value"), EXAMPLES, ids=[call for call, _ in EXAMPLES])
def test_value(spark: Found, call: str, value: str) -> None:
    expr = bound(call)
    theirs, found = spark[call]
    assert covers(expr.type, theirs), f"{expr.type} here, {theirs} there"
    assert ("NULL" if found is None else found) == value
    assert found is not None or expr.nullable, "the type says that it is never NULL"


def test_every_rewrite_has_an_example() -> None:
    text = "\n".join(call.upper() for call, _ in EXAMPLES)
    words = {"is_json": "IS JSON", "is_json_object": "IS JSON OBJECT", "is_json_array": "IS JSON ARRAY"}
    words |= {"is_json_scalar": "IS JSON SCALAR", "localtimestamp": "LOCALTIMESTAMP"}
    missing = [name for name in REWRITES if words.get(name, f"{name.upper()}(") not in text]
    assert not missing


def test_names_are_where_they_are_said_to_be() -> None:
    assert set(SAME) <= set(FUNCTIONS)
    assert set(DIFFERS) <= set(SAME) | {"array_sort"}
    assert not set(NOT_RUN) & (set(FUNCTIONS) | set(REWRITES))
    overlap = {name for name in REWRITES if name in FUNCTIONS}
    assert overlap == {"array_sort", "ceil", "floor", "to_timestamp_ltz", "typeof"}


@pytest.mark.parametrize("name", sorted(NOT_RUN))
def test_refused(name: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        bound(f"{name}(1)")
    (found,) = caught.value.diagnostics
    assert found.code.name == "HR230"
    assert found.cause
    assert found.fix


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("SPLIT_INDEX('a', ',')", "`split_index` does not take 2 arguments like these"),
        ("SPLIT_INDEX('a', ',', DATE '2024-01-01')", "`split_index`: argument 2 must be a number, not DATE"),
        ("FLOOR(TIMESTAMP '2024-01-01 00:00:00' TO CENTURY)", "`floor`: `CENTURY` is none of"),
        ("JSON_VALUE('{}', '$..a')", "`json_value`: `..a` of the path is not run"),
        ("JSON_VALUE('{}', 'a')", "`json_value`: a JSON path begins with `$`, not `a`"),
        ("JSON_VALUE('{}', '$.a' RETURNING DATE)", "RETURNING takes STRING, BOOLEAN, INTEGER or DOUBLE"),
        ("JSON_OBJECT(KEY 'a')", "keys and values must come in pairs"),
        ("TIMESTAMPDIFF(DAZ, NOW(), NOW())", "`timestampdiff`: argument 1 must be a unit of time"),
        ("'a' SIMILAR TO 'b'", "SIMILAR TO is not run"),
        ("NOW() AT TIME ZONE 'UTC'", "AT TIME ZONE is not run"),
        ("SHA256(ARRAY[1])", "`sha256`: argument 1 must be BINARY or a STRING, not ARRAY<INT>"),
    ],
)
def test_mistakes_are_told_in_the_users_words(call: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        bound(call)
    assert message in caught.value.diagnostics[0].message
