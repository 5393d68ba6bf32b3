"""Real runs, each in a process of its own. They cost seconds, so each shows several things."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from runtime.cli import group

REPOSITORY = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "runtime.cli")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*COMMAND, "run", "--jvm", "fast-start", *arguments],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def rows(folder: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for file in folder.glob("part-*") for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    assert CliRunner().invoke(group, ["init", str(folder)]).exit_code == 0
    return folder


@pytest.mark.timeout(900)  # three runs: on a machine that does much else besides, each may take minutes
def test_the_first_project_runs_again_closes_and_starts_over(demo: Path) -> None:
    out = demo / "out/best_sellers"

    first = run(demo)
    assert first.returncode == 0, first.stderr
    written = rows(out)
    assert len(written) == 16
    assert {"window_start", "product", "category", "orders", "revenue"} <= set(written[0])
    assert first.stderr == ""
    assert "best_sellers_out: starts\n" in first.stdout
    assert "16 rows -> filesystem out/best_sellers\n" in first.stdout
    assert "4 groups of windows stay open" in first.stdout
    assert "--on-end close" in first.stdout
    assert "run again to resume" in first.stdout
    assert (demo / "target/job_plan.json").exists()
    assert (demo / "target/logs/spark.log").exists()

    # No row is written again, and open windows are closed.
    closed = run(demo, "--on-end", "close")
    assert closed.returncode == 0, closed.stderr
    assert "best_sellers_out: resumes at epoch " in closed.stdout
    assert "done, all windows closed" in closed.stdout
    after = Counter(map(str, rows(out)))
    assert not Counter(map(str, written)) - after
    assert f"{after.total() - len(written)} rows -> filesystem out/best_sellers\n" in closed.stdout

    fresh = run(demo, "--full-refresh", "--yes")
    assert fresh.returncode == 0, fresh.stderr
    assert "rows of sink best_sellers_out: out/best_sellers\n" in fresh.stdout
    assert sorted(map(str, rows(out))) == sorted(map(str, written))


FILES = 12
SCRIPT = """\
CREATE SOURCE lines (n BIGINT)
WITH (connector = 'filesystem', path = 'in', format = 'csv', max_files_per_epoch = 1);

CREATE SINK copies WITH (connector = 'filesystem', path = 'out', format = 'json')
AS SELECT n FROM lines;
"""


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A script that copies a folder of one-line files, one an epoch."""
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        (tmp_path / f"in/{number:02}.csv").write_text(f"{number}\n")
    (tmp_path / "copy.sql").write_text(SCRIPT)
    return tmp_path


def test_ctrl_c_finishes_the_epoch_and_the_next_run_goes_on(lines: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "run", "copy.sql", "--jvm", "fast-start", "--trigger", "100 ms", "--log-format", "json"],
        cwd=lines,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    events: list[dict[str, Any]] = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == "epoch_completed" and not any(e["event"] == "note" for e in events):
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            events.append({"event": "sent"})
            break
    events += [json.loads(line) for line in process.stdout]
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert errors == ""
    assert all({"time", "event"} <= set(e) for e in events if e != {"event": "sent"})
    assert events[0]["event"] == "starting"
    assert {"query_started", "query_ended"} <= {e["event"] for e in events}
    assert any("press Ctrl-C again" in e.get("message", "") for e in events)
    assert events[-1]["event"] == "run_ended"
    assert events[-1]["status"] == "stopped"
    copied = sorted(row["n"] for row in rows(lines / "out"))
    assert 0 < len(copied) < FILES
    assert events[-1]["rows_written"] == len(copied)

    (lines / "in/bad.csv").write_text("no number\n")
    later = run(lines, "copy.sql")
    assert later.returncode == 1
    assert "error[HR406]" in later.stderr
    assert "bad.csv" in later.stderr
    assert later.stderr.endswith("1 error\n")
    assert "failed after" in later.stdout
    assert sorted(row["n"] for row in rows(lines / "out")) == list(range(FILES))


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_rechain_starts_over_what_comes_out_otherwise(lines: Path) -> None:
    """A sink added later has a query of its own; chained anew, both share one, which reads from the start."""
    script = lines / "copy.sql"
    (lines / "headrace.yml").write_text(
        "name: copies\ntargets: {dev: {master: 'local[2]', parallelism: 2}}\n"
    )
    assert run(lines).returncode == 0
    doubles = (
        "CREATE SINK doubles WITH (connector = 'filesystem', path = 'doubles', format = 'json') "
        "AS SELECT n * 2 AS n FROM lines;\n"
    )
    script.write_text(SCRIPT + doubles)
    apart = run(lines)
    assert apart.returncode == 0, apart.stderr
    assert "copies: resumes at epoch " in apart.stdout
    assert "doubles: starts\n" in apart.stdout

    refused = run(lines, "--rechain")
    assert refused.returncode == 2
    assert "--full-refresh" in refused.stderr
    assert sorted(row["n"] for row in rows(lines / "out")) == list(range(FILES))

    (lines / "in/more.csv").write_text(f"{FILES}\n")
    anew = run(lines, "--rechain", "--full-refresh", "--yes")
    assert anew.returncode == 0, anew.stderr
    assert "doubles: starts" not in anew.stdout
    assert sorted(row["n"] for row in rows(lines / "out")) == list(range(FILES + 1))
    assert sorted(row["n"] for row in rows(lines / "doubles")) == [2 * n for n in range(FILES + 1)]
    # What was formed anew is what the next run remembers.
    later = run(lines)
    assert later.returncode == 0, later.stderr
    assert later.stdout.count(": resumes at epoch ") == 1
