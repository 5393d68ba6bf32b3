"""Sinks without state beside one: both take what an epoch has read once, and give their rows as if apart."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import pytest
from files import rows_of
from pyspark.sql import SparkSession
from test_crash import killed

from compiler.compile import compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.jobplan.model import JobPlan, Manifest
from compiler.project.load import load_project
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run
from runtime.state.root import read_manifest

pytestmark = pytest.mark.usefixtures("interpreted")

SOURCE = """
CREATE SOURCE orders (id INT NOT NULL, customer STRING, amount INT, at TIMESTAMP(3),
  WATERMARK FOR at AS at - INTERVAL '2' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'json', max_files_per_epoch = 1,
  on_bad_record = 'drop', on_null_time = 'drop');
CREATE MODEL big AS SELECT id, upper(customer) AS c, amount * 2 AS a, at FROM orders WHERE amount > 10;
"""
SINKS = {
    "sums": """SELECT window_start, c, sum(a) AS total, count(*) AS n
        FROM TUMBLE(TABLE big, DESCRIPTOR(at), INTERVAL '10' SECONDS) GROUP BY window_start, window_end, c""",
    "large": "SELECT id, c, a, at FROM big WHERE a > 60",
    "all_rows": "SELECT id, customer, at FROM orders",
}


def compiled(
    root: Path,
    names: Collection[str] = tuple(SINKS),
    manifest: Manifest | None = None,
    without: Collection[str] = (),
) -> JobPlan:
    root.mkdir(parents=True, exist_ok=True)
    (root / "headrace.yml").write_text(
        "name: shop\nversion: '1'\ntargets: {dev: {master: 'local[2]', parallelism: 2}}\n"
    )
    sinks = (
        f"CREATE SINK {name} WITH (connector = 'filesystem', path = 'out/{name}', format = 'json') "
        f"AS {SINKS[name]};\n"
        for name in names
    )
    (root / "all.sql").write_text(SOURCE + "".join(sinks))
    reporter = Reporter()
    project = load_project(root, target=None, variables={}, reporter=reporter)
    assert project is not None, render_all(reporter.all())
    plan = compile_project(project, reporter, manifest, without).plan
    assert plan is not None, render_all(reporter.all())
    return plan


def put(root: Path, first: int, files: int = 3) -> None:
    """Rows ten seconds a file, with a bad record and a row without a time in each."""
    (root / "in").mkdir(parents=True, exist_ok=True)
    for file in range(first, first + files):
        rows = [
            {"id": 10 * file + n, "customer": "ab"[n % 2], "amount": 7 * n, "at": at(10 * file + n)}
            for n in range(10)
        ]
        rows.append({"id": 1000 + file, "customer": "a", "amount": 99, "at": None})
        lines = [*map(json.dumps, rows), '{"id": "no number"}']
        path = root / "in" / f"{file:03}.json"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + file, 1_700_000_000 + file))


def at(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02}:{second % 60:02}"


def outputs(root: Path, names: Collection[str] = tuple(SINKS)) -> dict[str, list[str]]:
    return {
        name: sorted(json.dumps(row, sort_keys=True) for row in rows_of(root / "out" / name))
        for name in names
    }


def go(root: Path, plan: JobPlan, session: SparkSession, end: Literal["close", "leave_open"]) -> RunReport:
    report = run(plan, root, session=session, on_end=end)
    assert not report.failures
    return report


def test_the_same_rows_as_apart(session: SparkSession, tmp_path: Path) -> None:
    reports: list[RunReport] = []
    for root, without in ((tmp_path / "once", ()), (tmp_path / "apart", ("read_once",))):
        put(root, 0, files=4)
        plan = compiled(root, without=without)
        assert [(len(query.sinks), query.kept is not None) for query in plan.queries] == (
            [(1, False), (2, False)] if without else [(3, True)]
        )
        reports.append(go(root, plan, session, "close"))
    assert outputs(tmp_path / "once") == outputs(tmp_path / "apart")
    assert all(outputs(tmp_path / "once").values())
    once, apart = reports
    assert once.queries[0].input_rows == apart.queries[0].input_rows
    # What is set aside is told once, though two readers set it aside.
    assert once.queries[0].set_aside == apart.queries[0].set_aside
    assert {found.reason: found.rows for found in once.queries[0].set_aside} == {
        "bad records": 4,
        "rows without an event time": 4,
    }


@pytest.mark.parametrize(
    "fault",
    [
        "after:sums:2",
        pytest.param("after:large:1", marks=pytest.mark.soak),
        pytest.param("after:all_rows:3", marks=pytest.mark.soak),
        pytest.param("files:2", marks=pytest.mark.soak),
    ],
)
def test_killed_between_its_sinks(session: SparkSession, tmp_path: Path, fault: str) -> None:
    """What has an epoch keeps it, what has not gets it; another run adds nothing."""
    root, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    for project in (root, undisturbed):
        put(project, 0, files=4)
    go(undisturbed, compiled(undisturbed), session, "leave_open")
    plan = compiled(root)
    killed(plan, root, fault)
    assert outputs(root) != outputs(undisturbed)
    go(root, plan, session, "leave_open")
    assert outputs(root) == outputs(undisturbed)
    assert go(root, plan, session, "leave_open").rows_written == 0
    put(root, 4)
    put(undisturbed, 4)
    for project in (root, undisturbed):
        go(project, plan, session, "close")
    assert outputs(root) == outputs(undisturbed)


@pytest.mark.parametrize("left", [("large", "all_rows"), ("sums", "all_rows"), ("all_rows",)])
def test_sinks_that_go(session: SparkSession, tmp_path: Path, left: tuple[str, ...]) -> None:
    """Whatever goes, the others go on where they were: without the state, if nobody needs it any more."""
    put(tmp_path, 0)
    go(tmp_path, compiled(tmp_path), session, "leave_open")
    put(tmp_path, 3)
    plan = compiled(tmp_path, left, read_manifest(tmp_path / ".headrace/state"))
    assert [query.uid for query in plan.queries] == ["sums"]
    go(tmp_path, plan, session, "close")
    # What went comes back as a query of its own, over its old output: refused, as ever, until it is emptied.
    all_of_them = compiled(tmp_path, SINKS, read_manifest(tmp_path / ".headrace/state"))
    assert len(all_of_them.queries) == 2

    undisturbed = tmp_path / "undisturbed"
    put(undisturbed, 0, files=6)
    go(undisturbed, compiled(undisturbed), session, "close")
    assert outputs(tmp_path, left) == outputs(undisturbed, left)


def test_a_query_that_runs_keeps_its_sinks(session: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, 0)
    go(tmp_path, compiled(tmp_path, ["sums"]), session, "leave_open")
    plan = compiled(tmp_path, SINKS, read_manifest(tmp_path / ".headrace/state"))
    assert [[sink.uid for sink in query.sinks] for query in plan.queries] == [["sums"], ["large", "all_rows"]]
    assert all(query.kept is None for query in plan.queries)
