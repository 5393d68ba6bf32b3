"""What a file source knows of the file that a row came from, under Flink's keys."""

from __future__ import annotations

import os
from pathlib import Path

from files import tuples_of
from pyspark.sql import SparkSession

from compiler.compile import compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.project.load import load_script
from runtime.jobs.runner import run

SCRIPT = """
CREATE TABLE files (
  id BIGINT,
  `_metadata` STRING,
  `file.path` STRING METADATA VIRTUAL,
  name STRING METADATA FROM 'file.name' VIRTUAL,
  size INT METADATA FROM 'file.size' VIRTUAL,
  modified TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time' VIRTUAL,
  stem AS substring_index(name, '.', 1)
) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
CREATE TABLE outcome (
  id BIGINT, own STRING, path STRING, name STRING, size INT, modified TIMESTAMP(3), stem STRING
) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO outcome SELECT id, `_metadata`, `file.path`, name, size, modified, stem FROM files;
"""


def test_file_metadata(session: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "a b+c%20é"
    (root / "in").mkdir(parents=True)
    file = root / "in" / "x y+%41.json"
    file.write_text('{"id": 1, "_metadata": "mine"}\n', encoding="utf-8")
    os.utime(file, (1_700_000_000.25, 1_700_000_000.25))
    script = root / "s.sql"
    script.write_text(SCRIPT, encoding="utf-8")
    reporter = Reporter()
    project = load_script(script, reporter=reporter)
    assert project is not None
    compiled = compile_project(project, reporter)
    assert compiled.plan is not None, render_all(reporter.all())
    report = run(compiled.plan, root, session=session)
    assert report.failures == ()
    assert tuples_of(root / "out", "id", "own", "path", "name", "size", "modified", "stem") == [
        (1, "mine", str(file), file.name, 31, "2023-11-14T22:13:20.250Z", "x y+%41")
    ]
