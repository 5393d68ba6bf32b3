"""Window aggregates that share one state give the rows that they give apart."""

from __future__ import annotations

import random
from collections.abc import Collection
from pathlib import Path

import plans
import pytest
from compiling import plan_at
from files import counted_rows
from pyspark.sql import SparkSession

from compiler.jobplan.model import JobPlan, Manifest
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run
from runtime.state.root import read_manifest

pytestmark = pytest.mark.usefixtures("interpreted")

SOURCE = """
CREATE SOURCE orders (id INT, customer STRING, amount INT, at TIMESTAMP(3),
  WATERMARK FOR at AS at - INTERVAL '2' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'csv', 'csv.header' = 'true',
  max_files_per_epoch = 1);
CREATE MODEL big AS SELECT upper(customer) AS c, amount * 2 AS a, at FROM orders WHERE amount > 10;
"""
SINK = "CREATE SINK {0} WITH (connector = 'filesystem', path = 'out/{0}', format = 'json') AS {1};\n"
QUERIES = {
    "by_customer": """
        SELECT window_start, window_end, customer, sum(amount) AS total, count(*) AS n
        FROM TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '10' SECONDS)
        GROUP BY window_start, window_end, customer""",
    "hops": """
        SELECT window_time, c, sum(a) AS total, count(DISTINCT a) AS different
        FROM HOP(TABLE big, DESCRIPTOR(at), INTERVAL '5' SECONDS, INTERVAL '15' SECONDS)
        GROUP BY window_start, window_end, window_time, c HAVING sum(a) > 100""",
    "parity": """
        SELECT window_start, count(*) AS n, sum(amount) AS total, id % 2 AS parity, max(customer) AS last
        FROM TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '20' SECONDS, INTERVAL '3' SECONDS)
        WHERE id > 5 GROUP BY window_start, window_end, id % 2""",
    "everything": """
        SELECT window_end, avg(amount) AS mean, count(*) FILTER (WHERE customer = 'b') AS bs
        FROM TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '7' SECONDS) GROUP BY window_start, window_end""",
}


def compiled(
    root: Path, names: Collection[str], manifest: Manifest | None = None, without: Collection[str] = ()
) -> JobPlan:
    root.mkdir(parents=True, exist_ok=True)
    (root / "headrace.yml").write_text(
        "name: shop\nversion: '1'\ntargets: {dev: {master: 'local[2]', parallelism: 2}}\n"
    )
    (root / "all.sql").write_text(SOURCE + "".join(SINK.format(name, QUERIES[name]) for name in names))
    return plan_at(root, manifest, without)


def put(root: Path, seed: int, files: int, disorder: int = 2) -> None:
    """Rows out of order by some seconds; beyond two, some are late."""
    chance = random.Random(seed)
    for file in range(files):
        rows = [
            (
                chance.randrange(40),
                chance.choice("abc"),
                chance.randrange(50),
                f"2024-01-01 00:00:{second:02}",
            )
            for second in (
                min(59, max(0, seed % 7 + 10 * file + chance.randint(-disorder, disorder))) for _ in range(25)
            )
        ]
        plans.put(root / "in", f"{seed}-{file}.csv", *rows, header="id,customer,amount,at")


def go(root: Path, plan: JobPlan, session: SparkSession, end: str = "close") -> RunReport:
    report = run(plan, root, session=session, on_end="close" if end == "close" else "leave_open")
    assert not report.failures
    return report


@pytest.mark.soak
def test_the_same_rows_as_apart(session: SparkSession, tmp_path: Path) -> None:
    for root, without in ((tmp_path / "fused", ()), (tmp_path / "apart", ("merge_siblings",))):
        plan = compiled(root, QUERIES, without=without)
        assert len(plan.queries) == (1 if not without else len(QUERIES))
        put(root, seed=1, files=5, disorder=25)
        report = go(root, plan, session)
        assert report.late_rows_dropped
    fused = counted_rows(tmp_path / "fused", QUERIES)
    assert fused == counted_rows(tmp_path / "apart", QUERIES)
    assert all(fused.values())


def test_branches_go_and_others_are_added(session: SparkSession, tmp_path: Path) -> None:
    """One of three goes, a fourth comes: the state of the two others is read on, the new one has its own."""
    root = tmp_path / "changed"
    put(root, seed=2, files=3)
    first = ("by_customer", "hops", "parity")
    go(root, compiled(root, first), session, end="leave_open")
    before = counted_rows(root, ["hops"])
    manifest = read_manifest(root / ".headrace/state")
    then = ("by_customer", "parity", "everything")
    plan = compiled(root, then, manifest)
    assert [[sink.uid for sink in query.sinks] for query in plan.queries] == [
        ["by_customer", "parity"],
        ["everything"],
    ]
    put(root, seed=30, files=5)
    go(root, plan, session)

    undisturbed = tmp_path / "undisturbed"
    put(undisturbed, seed=2, files=3)
    put(undisturbed, seed=30, files=5)
    go(undisturbed, compiled(undisturbed, QUERIES, without=("merge_siblings",)), session)
    assert counted_rows(root, then) == counted_rows(undisturbed, then)
    assert counted_rows(root, ["hops"]) == before


def test_a_branch_that_changes_is_refused(session: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, seed=3, files=2)
    names = ("by_customer", "parity")
    go(tmp_path, compiled(tmp_path, names), session, end="leave_open")
    manifest = read_manifest(tmp_path / ".headrace/state")
    same = compiled(tmp_path, names, manifest)
    assert manifest is not None
    assert same.queries[0].state[0].fingerprint == manifest.groups[0].state[0].fingerprint
    text = (tmp_path / "all.sql").read_text().replace("WHERE id > 5", "WHERE id > 6")
    (tmp_path / "all.sql").write_text(text)
    changed = plan_at(tmp_path, manifest)
    assert changed.queries[0].state[0].fingerprint != manifest.groups[0].state[0].fingerprint
