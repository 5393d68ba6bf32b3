"""Sources of random changes and rows, the tables that they make, and what DuckDB makes of these."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from compiling import plan_at
from pyspark.sql import SparkSession

from compiler.jobplan import model as m
from compiler.jobplan.codec import to_json
from runtime.jobs.runner import run

PROJECT = """
name: changing
version: '1'
defaults: {sources: {max_files_per_epoch: 1}}
targets: {dev: {master: 'local[2]', parallelism: %d}}
"""

SOURCE = """
CREATE SOURCE {name}_in ({op}id BIGINT, status STRING, credit DECIMAL(12, 2), score DOUBLE)
WITH (connector = 'filesystem', path = 'in/{name}', format = 'json');
"""

CHANGES = """
CREATE MODEL {name} AS
SELECT * FROM FROM_CHANGELOG(
  TABLE {name}_in PARTITION BY id, DESCRIPTOR(op), MAP['c', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE']);
"""

Row = tuple[Any, ...]


@dataclass
class Changing:
    """A project over the tables `changing` (changes by id) and `growing` (rows that only come).

    Args:
        folder: where it is made.
        pipeline: SQL over these relations, with a Delta sink for each of `oracles`.
        oracles: for each sink DuckDB's query for its rows, over tables of these names.
        seed: of the rows.
    """

    folder: Path
    pipeline: str
    oracles: Mapping[str, str]
    seed: int
    changing: Sequence[str] = ("a", "b")
    growing: Sequence[str] = ()
    keys: int = 12
    parallelism: int = 1
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._epochs = 0
        sources = ""
        for name in (*self.changing, *self.growing):
            (self.folder / "in" / name).mkdir(parents=True)
            self.rows[name] = []
            op = "op STRING, " if name in self.changing else ""
            sources += SOURCE.format(name=name, op=op)
            sources += (
                CHANGES.format(name=name) if op else f"CREATE MODEL {name} AS SELECT * FROM {name}_in;\n"
            )
        (self.folder / "headrace.yml").write_text(PROJECT % self.parallelism)
        (self.folder / "pipeline.sql").write_text(sources + self.pipeline, encoding="utf-8")

    def put(self, count: int) -> None:
        """Writes an epoch: so many changes a table, several of most keys."""
        made = self._random
        for name, rows in self.rows.items():
            lines = []
            for _ in range(count):
                row = (
                    made.randrange(self.keys),
                    made.choice([None, "new", "active", 'ö, "gone"']),
                    made.choice([None, round(made.randrange(-9999, 9999) / 100, 2)]),
                    made.choice([None, -0.5, 0.25, 2.0]),
                )
                record = dict(zip(("id", "status", "credit", "score"), row, strict=True))
                op = made.choice("cuud") if name in self.changing else ""
                if op:
                    record["op"] = op
                    rows[:] = [other for other in rows if other[0] != row[0]]
                if op != "d":
                    rows.append(row)
                lines.append(json.dumps(record))
            file = self.folder / "in" / name / f"{self._epochs}.json"
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            os.utime(file, (1_700_000_000 + self._epochs,) * 2)
        self._epochs += 1

    def check(self, session: SparkSession) -> None:
        """The sinks' tables are what DuckDB makes of the sources' tables."""
        oracle = duckdb.connect()
        for name, rows in self.rows.items():
            oracle.execute(
                f"CREATE TABLE {name} (id BIGINT, status TEXT, credit DECIMAL(12, 2), score DOUBLE)"
            )
            if rows:
                oracle.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)
        for sink, query in self.oracles.items():
            expected = oracle.execute(query).fetchall()
            assert expected, sink
            assert sorted(self.table(session, sink), key=str) == sorted(expected, key=str), sink

    def table(self, session: SparkSession, sink: str) -> list[Row]:
        """What a sink has written."""
        path = str(self.folder / "out" / sink)
        return [tuple(row) for row in session.read.format("delta").load(path).collect()]

    def compile(self) -> m.JobPlan:
        """The project's job plan."""
        return plan_at(self.folder)

    def run(self, session: SparkSession) -> None:
        """Runs it over what was put, and checks the tables."""
        report = run(self.compile(), self.folder, session=session)
        assert [query.failure for query in report.queries] == [None] * len(report.queries)
        self.check(session)

    def run_killed(self, session: SparkSession, epoch: int) -> None:
        """Runs it in a process that is killed in its `epoch`th epoch, then to the end, and checks."""
        plan = self.folder / "plan.json"
        plan.write_text(to_json(self.compile()), encoding="utf-8")
        driver = Path(__file__).parents[1] / "killed_run.py"
        command = [sys.executable, str(driver), str(self.folder), str(plan), "leave_open", str(epoch)]
        killed = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
        assert killed.returncode == -9, killed.stderr
        self.run(session)
