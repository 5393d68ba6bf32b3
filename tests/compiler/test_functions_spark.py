"""The catalogue before the judge: Spark's analyzer types the same calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from function_calls import COLUMNS, EXAMPLES, NOT_NULL, REJECTED, TABLE, call_name, evaluate
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

from compiler.functions import FUNCTIONS
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t

# They stand in FROM, where their argument is a column of the table to the left.
FROM_ONLY = frozenset({"variant_explode", "variant_explode_outer"})
# One of them a query.
ALONE = frozenset({"session_window", "window", "window_time"})
VIEWS: Mapping[str, Mapping[str, Arg]] = {"calls": COLUMNS, "calls_not_null": NOT_NULL}


def from_spark(found: dict[str, Any] | str) -> t.DataType:
    """A type out of the JSON that Spark writes schemas in."""
    if isinstance(found, dict):
        if found["type"] == "array":
            return t.Array(from_spark(found["elementType"]), found["containsNull"])
        if found["type"] == "map":
            key, value = from_spark(found["keyType"]), from_spark(found["valueType"])
            return t.Map(key, value, found["valueContainsNull"])
        fields = (t.StructField(f["name"], from_spark(f["type"]), f["nullable"]) for f in found["fields"])
        return t.Struct(tuple(fields))
    names = {
        "byte": t.TINYINT,
        "short": t.SMALLINT,
        "integer": t.INT,
        "long": t.BIGINT,
        "timestamp": t.TIMESTAMP,
    }
    if found in names:
        return names[found]
    if found.startswith("decimal("):
        precision, scale = found[8:-1].split(",")
        return t.Decimal(int(precision), int(scale))
    if found.startswith("interval "):
        return t.Interval(found.removeprefix("interval ").upper())
    return t.Simple(found.upper())


def covers(ours: t.DataType, theirs: t.DataType) -> bool:
    """Whether the types are the same, and NULLs inside are allowed by ours wherever Spark allows them."""
    if isinstance(ours, t.Array) and isinstance(theirs, t.Array):
        return covers(ours.element, theirs.element) and ours.contains_null >= theirs.contains_null
    if isinstance(ours, t.Map) and isinstance(theirs, t.Map):
        values = covers(ours.value, theirs.value) and ours.value_contains_null >= theirs.value_contains_null
        return values and covers(ours.key, theirs.key)
    if isinstance(ours, t.Struct) and isinstance(theirs, t.Struct):
        return [f.name for f in ours.fields] == [f.name for f in theirs.fields] and all(
            covers(a.type, b.type) and a.nullable >= b.nullable
            for a, b in zip(ours.fields, theirs.fields, strict=True)
        )
    return ours.sql == theirs.sql


class Judge:
    """Answers of the analyzer, asked for many calls at a time."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        columns = ", ".join(f"{value} AS {name}" for name, (_, value) in TABLE.items())
        nulls = ", ".join(f"CAST(NULL AS {found.sql}) AS {name}" for name, (found, _) in TABLE.items())
        session.sql(f"SELECT {columns}").createOrReplaceTempView("calls_not_null")
        session.sql(f"SELECT {nulls}").createOrReplaceTempView("calls")
        self._known = {view: dict(self._ask(EXAMPLES, view)) for view in VIEWS}

    def schema(self, query: str) -> list[t.StructField]:
        fields: list[spark_types.StructField] = self.session.sql(query).schema.fields
        return [t.StructField(f.name, from_spark(f.dataType.jsonValue()), f.nullable) for f in fields]

    def found(self, call: str, view: str) -> t.StructField:
        return self._known[view].get(call) or self.one(call, view)

    def one(self, call: str, view: str) -> t.StructField:
        fields = self.schema(query(call, view))
        if FUNCTIONS[call_name(call)].generator:
            return t.StructField(call, t.Struct(tuple(fields)))
        return fields[0]

    def _ask(self, calls: Iterable[str], view: str) -> Iterable[tuple[str, t.StructField]]:
        for _, group in sorted(grouped(calls).items()):
            for start in range(0, len(group), 40):
                batch = group[start : start + 40]
                selected = ", ".join(f"{call} AS c{index}" for index, call in enumerate(batch))
                try:
                    yield from zip(batch, self.schema(f"SELECT {selected} FROM {view}"), strict=True)
                except PySparkException:
                    continue  # one of them is wrong: they are asked for again, one by one

    def gives_null(self, call: str, view: str) -> bool:
        try:
            rows = self.session.sql(query(call, view)).collect()
        except Exception:  # noqa: BLE001 - any error says that the call fails on these values instead
            return False
        return any(row[0] is None for row in rows)


def query(call: str, view: str) -> str:
    name = call_name(call)
    if name in FROM_ONLY:
        return f"SELECT made.* FROM {view} AS given, LATERAL {call.replace('(', '(given.', 1)} AS made"
    if name.startswith("grouping"):
        return f"SELECT {call} FROM {view} GROUP BY CUBE (i)"
    return f"SELECT {call} FROM {view}"


def grouped(calls: Iterable[str]) -> dict[str, list[str]]:
    """The calls that can stand in one SELECT together."""
    groups: dict[str, list[str]] = {}
    for call in calls:
        function = FUNCTIONS[call_name(call)]
        alone = function.generator or function.name in ALONE or function.name.startswith("grouping")
        if not alone:
            kind = "over" if " over " in call else "aggregate" if function.aggregate else "scalar"
            groups.setdefault(kind, []).append(call)
    return groups


@pytest.fixture(scope="module")
def judge(session: SparkSession) -> Judge:
    return Judge(session)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("call", EXAMPLES)
def test_type_is_sparks(call: str, view: str, judge: Judge) -> None:
    ours, theirs = evaluate(call, VIEWS[view]), judge.found(call, view)
    assert covers(ours.type, theirs.type), f"{ours.type} here, {theirs.type} there"
    if theirs.nullable and not ours.nullable:
        # Spark says so of casts that fail in ANSI mode rather than give NULL.
        assert not judge.gives_null(call, view)


@pytest.mark.parametrize("call", REJECTED)
def test_both_refuse(call: str, judge: Judge) -> None:
    with pytest.raises(TypeProblem):
        evaluate(call, COLUMNS)
    with pytest.raises((PySparkException, Py4JJavaError)):  # some checks of Spark fail as internal errors
        judge.one(call, "calls")


def test_nothing_of_the_catalogue_is_unknown_to_spark(session: SparkSession) -> None:
    # Two are grammar, not functions.
    known = {row[0] for row in session.sql("SHOW FUNCTIONS").collect()} | {"timestampadd", "timestampdiff"}
    assert set(FUNCTIONS) <= known
