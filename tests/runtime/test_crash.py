"""Kills and failures in the middle: afterwards, each row is there exactly once."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import plans
import pytest
from files import tuples_of
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

from compiler.jobplan import model as m
from compiler.jobplan.codec import to_json
from runtime.connectors.sinks.delta import DeltaWriter
from runtime.connectors.sinks.filesystem import FilesystemWriter
from runtime.jobs.runner import run
from runtime.state.checkpoint import Checkpoint

HERE = Path(__file__).parent
FIRST = (("2024-01-01 00:00:01", "x", 1), ("2024-01-01 00:00:02", "y", 2))
SECOND = (("2024-01-01 00:00:31", "x", 4),)
THIRD = (("2024-01-01 00:01:01", "y", 8),)
SUMS = [("x", 1), ("x", 4), ("y", 2)]
ALL = [("x", 1), ("x", 4), ("y", 2), ("y", 8)]


def killed(plan: m.JobPlan, project: Path, fault: str, on_end: str = "leave_open") -> None:
    """Runs the plan in another process until it kills itself."""
    (project / "plan.json").write_text(to_json(plan))
    arguments = [str(HERE / "crash_driver.py"), str(project), str(project / "plan.json"), fault, on_end]
    path = filter(None, (str(HERE.parents[1]), str(HERE.parent), os.environ.get("PYTHONPATH")))
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr[-3000:]


def checkpoint(project: Path, uid: str = "q1") -> Checkpoint:
    return Checkpoint(project / ".headrace/state/queries" / uid / "checkpoint")


def table(session: SparkSession, folder: Path, *columns: str) -> list[tuple[Any, ...]]:
    rows = session.read.format("delta").load(str(folder)).select(*columns).collect()
    return sorted(tuple(row) for row in rows)


def three_files(project: Path) -> None:
    for name, rows in (("a", FIRST), ("b", SECOND), ("c", THIRD)):
        plans.put(project / "in", f"{name}.csv", *rows)


def both(source: str, columns: tuple[m.Column, ...]) -> tuple[m.Sink, m.Sink]:
    return (
        plans.sink(source, columns, path="files", uid="files"),
        plans.sink(source, columns, path="table", uid="table", connector="delta"),
    )


def test_killed_between_two_sinks_of_a_stateful_query(session: SparkSession, tmp_path: Path) -> None:
    three_files(tmp_path)
    plan = plans.sums_plan(*both("agg", plans.SUMS))
    # Epoch 2 hands over the windows of the first file: the files have it, the table does not.
    killed(plan, tmp_path, "after:files:2")
    assert checkpoint(tmp_path).in_flight
    assert tuples_of(tmp_path / "files", "k", "total") == [("x", 1), ("y", 2)]
    assert table(session, tmp_path / "table", "k", "total") == []
    report = run(plan, tmp_path, session=session)
    assert report.failures == ()
    assert tuples_of(tmp_path / "files", "k", "total") == SUMS
    assert table(session, tmp_path / "table", "k", "total") == SUMS
    assert run(plan, tmp_path, session=session).rows_written == 0


@pytest.mark.parametrize("log", ["offsets", "commits"])
def test_killed_while_the_first_epoch_is_being_noted(session: SparkSession, tmp_path: Path, log: str) -> None:
    """Spark writes an entry of its logs under another name first, and wants the folders empty at epoch 0."""
    three_files(tmp_path)
    plan = plans.sums_plan(plans.sink("agg", plans.SUMS))
    folder = checkpoint(tmp_path).path / log
    folder.mkdir(parents=True)
    (folder / ".0.5f0a.tmp").write_text("v1\n{")
    (folder / "..0.5f0a.tmp.crc").write_bytes(b"crc")
    report = run(plan, tmp_path, session=session)
    assert report.failures == ()
    assert tuples_of(tmp_path / "out", "k", "total") == SUMS


def test_killed_while_part_files_are_written(session: SparkSession, tmp_path: Path) -> None:
    three_files(tmp_path)
    plan = plans.copy_plan()
    killed(plan, tmp_path, "files:1")
    # The first epoch's rows, and one of the second that nobody vouches for.
    assert tuples_of(tmp_path / "out", "k", "v") == [("x", 1), ("x", 4), ("y", 2)]
    assert checkpoint(tmp_path).in_flight
    report = run(plan, tmp_path, session=session)
    assert report.failures == ()
    assert tuples_of(tmp_path / "out", "k", "v") == ALL
    read = session.read.schema("k string, v int").json(str(tmp_path / "out"))
    assert sorted(tuple(row) for row in read.collect()) == ALL


def test_killed_while_closing(session: SparkSession, tmp_path: Path) -> None:
    three_files(tmp_path)
    plan = plans.sums_plan(*both("agg", plans.SUMS))
    plan = replace(plan, queries=(replace(plan.queries[0], sinks=plan.queries[0].sinks[::-1]),))
    # Three files, one epoch without data, and the one that closes; the table goes first here.
    killed(plan, tmp_path, "after:table:4", "close")
    assert checkpoint(tmp_path).in_flight
    assert checkpoint(tmp_path).closed_at == 4
    # A file that comes now is not swallowed by the end that was begun.
    late = plans.put(tmp_path / "in", "d.csv", ("2024-01-01 00:09:00", "z", 16))
    refused = run(plan, tmp_path, session=session, on_end="close")
    assert [failure.code.name for failure in refused.failures] == ["HR504"]
    assert late.exists()
    assert tuples_of(tmp_path / "files", "k", "total") == ALL
    assert table(session, tmp_path / "table", "k", "total") == ALL


def test_killed_before_the_epoch_that_closes_what_the_last_rows_have_passed(
    session: SparkSession, tmp_path: Path
) -> None:
    three_files(tmp_path)
    plan = plans.sums_plan(plans.sink("agg", plans.SUMS, path="files", uid="files"))
    # Spark then does not come to the epoch without rows, just as if it had died before it.
    session.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    try:
        assert run(plan, tmp_path, session=session).failures == ()
    finally:
        session.conf.unset("spark.sql.streaming.noDataMicroBatches.enabled")
    before = checkpoint(tmp_path)
    assert before.last_committed == 2
    assert before.owed_watermark_ms is not None
    assert tuples_of(tmp_path / "files", "k", "total") == [("x", 1), ("y", 2)]
    # No new rows: what is complete goes out all the same, and once.
    for _ in range(2):
        assert run(plan, tmp_path, session=session).failures == ()
        assert tuples_of(tmp_path / "files", "k", "total") == SUMS
        after = checkpoint(tmp_path)
        assert after.last_committed == 3
        assert after.owed_watermark_ms is None


def test_epoch_in_flight_is_finished_with_its_own_plan_and_seeds(
    session: SparkSession, tmp_path: Path
) -> None:
    three_files(tmp_path)

    def with_seed(text: str, factor: int) -> m.JobPlan:
        (tmp_path / "names.csv").write_text(text)
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        seed = m.Seed(
            "seed", "names", "names.csv", sha256, (m.Column("code", "STRING"), m.Column("name", "STRING"))
        )
        join = m.SeedJoin("join", "join", ("scan", "seed"), "inner", "k = code")
        project = m.Project("p", "p", ("join",), (m.Item("k", "name"), m.Item("v", f"v * {factor}")))
        columns = (m.Column("k", "STRING"), m.Column("v", "INT"))
        return plans.plan(plans.query((plans.scan(), seed, join, project), "scan", both("p", columns)))

    killed(with_seed("code,name\nx,old x\ny,old y\n", 1), tmp_path, "after:files:1")
    assert tuples_of(tmp_path / "files", "k", "v") == [("old x", 1), ("old x", 4), ("old y", 2)]
    assert table(session, tmp_path / "table", "k", "v") == [("old x", 1), ("old y", 2)]
    new = with_seed("code,name\nx,new x\ny,new y\n", 100)
    report = run(new, tmp_path, session=session)
    assert report.failures == ()
    expected = [("new y", 800), ("old x", 1), ("old x", 4), ("old y", 2)]
    assert tuples_of(tmp_path / "files", "k", "v") == expected
    assert table(session, tmp_path / "table", "k", "v") == expected


@pytest.mark.parametrize("stateful", [False, True], ids=["stateless", "stateful"])
@pytest.mark.parametrize("connector", ["filesystem", "delta"])
def test_failure_between_the_commits_of_sink_and_spark(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connector: str, stateful: bool
) -> None:
    """Spark 4.2.0: a stateful epoch that the sink skips must be computed all the same."""
    three_files(tmp_path)
    source, columns = ("agg", plans.SUMS) if stateful else ("scan", plans.ORDERS)
    sink = plans.sink(source, columns, connector=connector)
    operators: tuple[m.Operator, ...] = (plans.scan(),)
    if stateful:
        operators = (*operators, plans.watermark(), plans.tumble(), plans.sums())
    plan = plans.plan(plans.query(operators, source, (sink,)))
    kind = FilesystemWriter if connector == "filesystem" else DeltaWriter
    write = kind.write

    def write_and_fail(self: Any, epoch: int, batch: DataFrame) -> bool:
        computed = write(self, epoch, batch)
        if epoch == 2:
            raise RuntimeError("power cut")
        return computed

    with monkeypatch.context() as patched:
        patched.setattr(kind, "write", write_and_fail)
        (failure,) = run(plan, tmp_path, session=session).failures
    assert failure.code.name == "HR410"
    assert checkpoint(tmp_path).in_flight
    assert run(plan, tmp_path, session=session).failures == ()
    value = "total" if stateful else "v"
    got = (
        tuples_of(tmp_path / "out", "k", value)
        if connector == "filesystem"
        else table(session, tmp_path / "out", "k", value)
    )
    assert got == (SUMS if stateful else ALL)


def test_emptied_epoch_below_a_stateful_trunk(session: SparkSession, tmp_path: Path) -> None:
    """Spark proves that a false filter has no rows and would not compute the state's epoch at all."""
    three_files(tmp_path)
    never = m.Filter("never", "never", ("agg",), "1 = 0")
    operators = (plans.scan(), plans.watermark(), plans.tumble(), plans.sums(), never)
    plan = plans.plan(plans.query(operators, "agg", (plans.sink("never", plans.SUMS),)))
    report = run(plan, tmp_path, session=session, on_end="close")
    assert (report.failures, report.rows_written) == ((), 0)
