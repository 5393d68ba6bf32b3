"""Spark's second opinion: it agrees with every plan of the compiler's tests and of the examples."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from compiling import compile_at
from msgspec.structs import replace
from pyspark.sql import SparkSession

from compiler.compile import Compiled
from compiler.diagnostics.render import render_all
from compiler.jobplan.model import Aggregate, JobPlan, Operator, Project, Query, Watermark
from runtime.jobs.second_opinion import Places, second_opinion

ROOT = Path(__file__).parents[2]
PLANS = ROOT / "tests/compiler/plans"
CASES = sorted(path for path in PLANS.glob("*.sql") if not path.name.startswith("wrong_"))
EXAMPLES = sorted(path.parent for path in (ROOT / "pipelines").glob("*/headrace.yml"))


def compiled(root: Path) -> Compiled:
    return compile_at(root)


def case(path: Path, tmp_path: Path) -> Compiled:
    root = tmp_path / "project"
    shutil.copytree(PLANS / "_base", root)
    (root / "models").mkdir()
    shutil.copy(path, root / "models" / path.name)
    return compiled(root)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_good_cases(path: Path, tmp_path: Path, session: SparkSession) -> None:
    made = case(path, tmp_path)
    if made.plan is None:
        pytest.skip("a case of a mistake")
    found = second_opinion(made.plan, session, tmp_path, Places(made.logical.places, {}))
    assert not found, render_all(found)


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_examples(folder: Path, tmp_path: Path, session: SparkSession) -> None:
    made = compiled(folder)
    assert made.plan is not None, render_all(made.diagnostics)
    found = second_opinion(made.plan, session, tmp_path, Places(made.logical.places, {}))
    assert not found, render_all(found)


def changed(plan: JobPlan, change: type[Operator]) -> JobPlan:
    """The plan with a mistake in each operator of a class that the compiler would never make."""

    def operator(op: Operator) -> Operator:
        if not isinstance(op, change):
            return op
        if isinstance(op, Watermark):
            return replace(op, column="nothing")
        assert isinstance(op, Project)
        items = (replace(op.items[0], sql="`id` + `nothing`"), *op.items[1:])
        return replace(op, items=items)

    def query(found: Query) -> Query:
        return replace(found, operators=tuple(operator(op) for op in found.operators))

    return replace(plan, queries=tuple(query(q) for q in plan.queries))


def test_what_spark_refuses_is_told_at_its_line(tmp_path: Path, session: SparkSession) -> None:
    made = case(PLANS / "tumble.sql", tmp_path)
    assert made.plan is not None
    column = made.logical.places["orders"]
    places = Places(made.logical.places, {"nothing": column})
    wrong = changed(made.plan, Watermark)
    found = second_opinion(wrong, session, tmp_path, places)
    assert {d.code.name for d in found} == {"HR609"}
    assert found[0].span == made.logical.places["orders.watermark"]
    assert "UNRESOLVED_COLUMN" in found[0].message
    assert [label.span for label in found[0].related] == [column]


def test_a_chain_of_state_that_spark_takes_in_append_mode_only(tmp_path: Path, session: SparkSession) -> None:
    made = case(PLANS / "cascade.sql", tmp_path)
    assert made.plan is not None
    queries = tuple(replace(query, output_mode="update") for query in made.plan.queries)
    found = second_opinion(
        replace(made.plan, queries=queries), session, tmp_path, Places(made.logical.places, {})
    )
    aggregates = [op.uid for q in queries for op in q.operators if isinstance(op, Aggregate)]
    # The first alone is taken; the one above it is the one that is refused.
    assert [d.span for d in found] == [made.logical.places[aggregates[1]]]
    assert "stateful operation" in (found[0].cause or "")
