"""When a source counts as silent: only for as long as it was looked at and had nothing."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from files import rows_of
from pyspark.sql import DataFrame, SparkSession
from test_policies import COUNTS, compiled, counts, events, put

from compiler.jobplan.model import Query
from runtime.connectors.sinks.filesystem import FilesystemWriter
from runtime.jobs.events import EpochCompleted, Event
from runtime.jobs.execution import Execution
from runtime.jobs.idle import IdleWatch
from runtime.jobs.runner import run
from runtime.spark.context import Context
from runtime.spark.control import control_folder, move_on
from runtime.spark.counters import SeenTimes
from runtime.state.checkpoint import Checkpoint

BOTH = [SeenTimes("a", 1, 10_000), SeenTimes("b", 1, 50_000)]
ONLY_B = [SeenTimes("a", 0, None), SeenTimes("b", 1, 60_000)]


class Watched:
    """A query of the sources a, which may be silent for 5 seconds, and b, with a clock to set."""

    def __init__(self, root: Path, trigger: str = "1 s") -> None:
        sql = events(", idle_timeout = '5 s'", name="a") + events(name="b")
        sql += "CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS "
        sql += "SELECT id FROM a UNION ALL SELECT id FROM b;"
        (self.query,) = compiled(root / "project", sql, trigger=trigger).queries
        self.folder = root / "query"
        self.now = 0.0
        self.watch = IdleWatch(self.query, self.folder, clock=lambda: self.now)
        for name in "ab":
            control_folder(self.folder, name).mkdir(parents=True)

    def moved(self) -> list[str]:
        return sorted(file.name for file in self.folder.rglob("*.json"))


def test_what_comes_while_epochs_run_is_waited_for(tmp_path: Path) -> None:
    of = Watched(tmp_path)
    of.watch.saw(BOTH)
    for of.now in range(1, 20):
        of.watch.move(running=True)
    # It began at 1; at once the next one begins, and may have rows of a.
    of.watch.saw(ONLY_B, begun_ago_s=18)
    of.watch.move(running=True)
    of.now = 30
    of.watch.saw(BOTH, begun_ago_s=11)
    of.watch.move(running=True)
    assert of.moved() == []
    # One that began at 30 had none of a, which had some at 19: so a falls silent even if epochs never pause.
    of.now = 32
    of.watch.saw(ONLY_B, begun_ago_s=2)
    of.watch.move(running=True)
    assert of.moved() == ["60000.json"]


@pytest.mark.parametrize(("trigger", "silent_at"), [("1 s", 7), ("1 minute", 66)])
def test_what_comes_before_the_next_trigger_is_waited_for(
    tmp_path: Path, trigger: str, silent_at: int
) -> None:
    of = Watched(tmp_path, trigger)
    of.watch.saw(BOTH)
    of.now = 0.5
    of.watch.move(running=False)
    for of.now in range(1, silent_at - 1):
        of.watch.move()
        assert of.moved() == []
    of.now = silent_at
    of.watch.move()
    assert of.moved() == ["50000.json"]


def epoch(number: int, times: list[SeenTimes]) -> Any:
    """What Spark tells of an epoch that has just begun."""
    return SimpleNamespace(
        batchId=number,
        timestamp=datetime.now(UTC).isoformat(),
        durationMs={"addBatch": 1},
        stateOperators=[],
        numInputRows=1,
        processedRowsPerSecond=1.0,
        eventTime={},
        observedMetrics={
            f"{seen.source}\x1ftimes": {"rows": seen.rows, "greatest": seen.greatest_ms} for seen in times
        },
    )


def execution_of(query: Query, folder: Path) -> Execution:
    context: Any = Context(None, folder, folder, streaming=True, query_folder=folder, watches_times=True)  # type: ignore[arg-type]  # nothing asks the session
    return Execution(query, "UTC", context, Checkpoint(folder / "checkpoint"), {})


def test_an_epoch_is_read_before_a_source_is_judged(tmp_path: Path) -> None:
    of = Watched(tmp_path)
    execution = execution_of(of.query, of.folder)
    execution._idle = of.watch
    logs = [of.folder / "checkpoint" / log for log in ("offsets", "commits")]
    for log in logs:
        log.mkdir(parents=True)
    spark = SimpleNamespace(isActive=True, lastProgress=None, recentProgress=[])
    execution._running = spark  # type: ignore[assignment]
    for number, times in enumerate((BOTH, BOTH, ONLY_B)):
        (logs[0] / str(number)).touch()
        assert list(execution.progress()) == []
        # It runs for longer than a may be silent.
        of.now += 60
        assert list(execution.progress()) == []
        (logs[1] / str(number)).touch()
        assert list(execution.progress()) == []
        spark.lastProgress = epoch(number, times)
        told = [each.epoch for each in execution.progress()]
        assert told == [number]
        assert of.moved() == ([] if times is BOTH else ["60000.json"])


def test_times_that_were_read_go_once_no_replay_reads_them(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "events", "a.csv", (1, "2024-01-01 00:00:01", 5))
    plan = compiled(tmp_path, events(", idle_timeout = '1 hour'") + COUNTS, trigger="200 ms")
    folder = control_folder(tmp_path / ".headrace/state/queries/out", "events")
    stop = threading.Event()
    guard = threading.Timer(90, stop.set)
    guard.start()

    def go_on(event: Event) -> None:
        if isinstance(event, EpochCompleted) and event.epoch == 0:
            move_on(folder, 1_704_067_260_000)
        if rows_of(tmp_path / "out"):
            stop.set()

    def fail(self: FilesystemWriter, epoch: int, batch: DataFrame) -> bool:
        if epoch == 1:
            raise RuntimeError("power cut")
        return write(self, epoch, batch)

    write = FilesystemWriter.write
    with monkeypatch.context() as patched:
        patched.setattr(FilesystemWriter, "write", fail)
        assert run(plan, tmp_path, session=session, events=go_on, stop=stop).failures
    assert [file.name for file in folder.glob("*.json")] == ["1704067260000.json"]
    assert not run(plan, tmp_path, session=session, events=go_on, stop=stop).failures
    guard.cancel()
    assert counts(tmp_path) == [("00:00:00", 1)]
    assert list(folder.glob("*.json")) == []
