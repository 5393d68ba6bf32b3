"""Runs from start to end."""

from __future__ import annotations

from pathlib import Path

import plans
from files import rows_of
from pyspark.sql import SparkSession

from runtime.jobs.runner import run


def test_sums_of_windows(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1), ("2024-01-01 00:00:11", "x", 3))
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:31", "y", 5))
    report = run(plans.sums_plan(), tmp_path, session=session)
    assert report.failures == ()
    assert report.rows_written == 2
    assert report.open_windows == 1
    assert [(r["window_start"], r["k"], r["total"]) for r in rows_of(tmp_path / "out")] == [
        ("2024-01-01T00:00:00.000Z", "x", 1),
        ("2024-01-01T00:00:10.000Z", "x", 3),
    ]
    again = run(plans.sums_plan(), tmp_path, session=session)
    assert again.failures == ()
    assert again.rows_written == 0
    closed = run(plans.sums_plan(), tmp_path, session=session, on_end="close")
    assert closed.failures == ()
    assert (closed.rows_written, closed.open_windows) == (1, 0)
    assert len(rows_of(tmp_path / "out")) == 3
