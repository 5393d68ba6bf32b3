"""Groups over changes through Spark: straight, and with a process that is killed, beside DuckDB."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from compiler.compile import compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.jobplan import model as m
from compiler.jobplan.codec import to_json
from compiler.project.load import load_project
from runtime.jobs.runner import run

PROJECT = """
name: grouped
version: '1'
defaults: {sources: {max_files_per_epoch: 1}}
targets: {dev: {master: 'local[2]', parallelism: 2}}
"""

PIPELINE = """
CREATE SOURCE changes (op STRING, id BIGINT, status STRING, credit DECIMAL(12, 2), score DOUBLE)
WITH (connector = 'filesystem', path = 'in', format = 'json');

CREATE MODEL users AS
SELECT * FROM FROM_CHANGELOG(
  TABLE changes PARTITION BY id, DESCRIPTOR(op), MAP['c', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE']);

CREATE MODEL by_status WITH (allow_unbounded = true) AS
SELECT status, count(*) AS users, count(credit) AS known, sum(credit) AS credit, avg(credit) AS mean,
  min(score) AS least, max(id) AS newest, count(DISTINCT credit) AS kinds,
  count(*) FILTER (WHERE score > 0) AS positive
FROM users WHERE id <> 3 GROUP BY status;

-- Groups of groups.
CREATE MODEL sizes WITH (state_ttl = '1 d') AS
SELECT users, count(*) AS statuses FROM by_status GROUP BY users;

CREATE SINK statuses (PRIMARY KEY (status) NOT ENFORCED) WITH (connector = 'delta', path = 'out/statuses')
AS SELECT * FROM by_status;
CREATE SINK sizes_out (PRIMARY KEY (users) NOT ENFORCED) WITH (connector = 'delta', path = 'out/sizes')
AS SELECT * FROM sizes;
"""

ORACLE = """
SELECT status, count(*), count(credit), sum(credit)::DECIMAL(22, 2),
  (sum(credit)::DECIMAL(38, 10) / 1 * 1 / count(credit))::DOUBLE, min(score), max(id), count(DISTINCT credit),
  count(*) FILTER (WHERE score > 0)
FROM users WHERE id <> 3 GROUP BY status
"""


class Changes:
    """Files of changes, and the table that they make."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self._rows: dict[int, tuple[Any, ...]] = {}
        (folder / "in").mkdir(parents=True)
        (folder / "headrace.yml").write_text(PROJECT)
        (folder / "pipeline.sql").write_text(PIPELINE)

    def put(self, count: int) -> None:
        """Writes an epoch of changes, several of most keys."""
        made, lines = self._random, []
        for _ in range(count):
            row = (
                made.choice([None, "new", "active", 'ö, "gone"']),
                made.choice([None, round(made.randrange(-9999, 9999) / 100, 2)]),
                made.choice([None, -0.5, 0.25, 2.0]),
            )
            op, id_ = made.choice("cuud"), made.randrange(12)
            lines.append(
                json.dumps(dict(zip(("op", "id", "status", "credit", "score"), (op, id_, *row), strict=True)))
            )
            self._rows.pop(id_, None)
            if op != "d":
                self._rows[id_] = row
        number = len(list((self._folder / "in").iterdir()))
        file = self._folder / "in" / f"{number}.json"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.utime(file, (1_700_000_000 + number,) * 2)

    def check(self, session: SparkSession) -> None:
        """The tables are what the changes make of them."""
        oracle = duckdb.connect()
        oracle.execute(
            "CREATE TABLE users (id BIGINT, status TEXT, credit DECIMAL(12, 2), score DOUBLE);"
            "INSERT INTO users VALUES (-1, NULL, NULL, NULL); DELETE FROM users"
        )
        if self._rows:
            rows = [(id_, *row) for id_, row in self._rows.items()]
            oracle.executemany("INSERT INTO users VALUES (?, ?, ?, ?)", rows)
        expected = oracle.execute(ORACLE).fetchall()
        assert expected
        found = [list(row) for row in self._table(session, "statuses")]
        for row in found:
            row[4] = None if row[4] is None else round(float(row[4]), 4)
        wanted = [[*row[:4], None if row[4] is None else round(row[4], 4), *row[5:]] for row in expected]
        assert sorted(found, key=str) == sorted(wanted, key=str)
        sizes = Counter(users for _, users, *_ in expected)
        assert dict(self._table(session, "sizes")) == sizes

    def _table(self, session: SparkSession, name: str) -> list[tuple[Any, ...]]:
        path = str(self._folder / "out" / name)
        return [tuple(row) for row in session.read.format("delta").load(path).collect()]

    def compile(self) -> m.JobPlan:
        """The project's job plan."""
        reporter = Reporter()
        project = load_project(self._folder, target=None, variables={}, reporter=reporter)
        assert project is not None
        compiled = compile_project(project, reporter)
        assert compiled.plan is not None, render_all(compiled.diagnostics)
        return compiled.plan


def test_groups_follow_the_table_from_run_to_run(session: SparkSession, tmp_path: Path) -> None:
    changes = Changes(tmp_path, seed=5)
    plan = changes.compile()
    for count in (40, 25):
        changes.put(count)
        report = run(plan, tmp_path, session=session)
        assert [query.failure for query in report.queries] == [None] * len(plan.queries)
        changes.check(session)


@pytest.mark.soak
def test_groups_survive_a_kill(session: SparkSession, tmp_path: Path) -> None:
    changes = Changes(tmp_path, seed=11)
    plan = changes.compile()
    for count in (30, 20, 10):
        changes.put(count)
    (tmp_path / "plan.json").write_text(to_json(plan), encoding="utf-8")
    driver = Path(__file__).parents[1] / "killed_run.py"
    command = [sys.executable, str(driver), str(tmp_path), str(tmp_path / "plan.json"), "leave_open", "3"]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert killed.returncode == -9, killed.stderr
    report = run(plan, tmp_path, session=session)
    assert [query.failure for query in report.queries] == [None] * len(plan.queries)
    changes.check(session)
