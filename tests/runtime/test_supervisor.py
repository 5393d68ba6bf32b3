"""The order of what a run starts, with executions that only say how they end."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import plans
import pytest
from msgspec.structs import replace

from compiler.jobplan.model import JobPlan, Query
from runtime.jobs import preparation, runner
from runtime.jobs.environment import Environment
from runtime.jobs.events import Event, QueryEnded, QueryStarted
from runtime.jobs.preparation import Job
from runtime.jobs.report import RunReport
from runtime.state.checkpoint import Checkpoint
from runtime.state.root import StateRoot

LATE = "Python worker failed to connect back."
Ends = dict[tuple[str, str], list[Exception | None]]


class FakeExecution:
    """Ends at once, by committing what is in flight or by an error; or runs until it is let go of."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        begins: Callable[[], None],
        end: Exception | None,
        until: Callable[[], None] | None,
    ) -> None:
        self.checkpoint = checkpoint
        self.error: Exception | None = None
        self.held_back = self.active = False
        self.epochs = self.input_rows = self.late_rows_dropped = self.state_rows = 0
        self.open_groups = 0
        self.set_aside: Counter[tuple[str, str]] = Counter()
        self.writers = dict.fromkeys("ab", SimpleNamespace(location="", rows_written=0))
        self._begins, self._end, self._until = begins, end, until

    def start(self, _: Mapping[str, Any]) -> None:
        self._begins()
        self.active = self._until is not None
        if self.active:
            return
        self.error = self._end
        if self.error is None:
            (self.checkpoint.path / "commits" / str(self.checkpoint.last_begun)).write_text("v1\n{}")

    def progress(self) -> Iterator[Event]:
        if self.active and self._until is not None:
            self._until()
        return iter(())

    def settle(self) -> None: ...

    def hold(self) -> None:
        self.held_back, self.active = True, False

    busy = False

    def stop(self) -> None:
        self.active = False


class Runs:
    """A run of the queries a and b, of which an earlier plan has begun an epoch each."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started: list[tuple[str, str]] = []
        self.events: list[Event] = []
        self.stop = threading.Event()
        self.ends: Ends = {}
        self.until: dict[tuple[str, str], Callable[[], None]] = {}
        (query,) = plans.sums_plan().queries
        self.queries = tuple(
            replace(query, uid=uid, sinks=(replace(query.sinks[0], uid=uid),)) for uid in ("a", "b")
        )
        self.root = StateRoot(root, "shop")
        for each in self.queries:
            checkpoint = self.root.checkpoint(each.uid)
            checkpoint.incarnation()
            for log in ("offsets", "commits"):
                (checkpoint.path / log).mkdir()
            metadata = json.dumps({"batchWatermarkMs": 0, "conf": {}})
            (checkpoint.path / "offsets" / "0").write_text(f'v1\n{metadata}\n{{"logOffset":0}}')
        monkeypatch.setattr(runner, "_POLL_SECONDS", 0.0)
        monkeypatch.setattr(runner, "_RESTART_SECONDS", 0.0)
        monkeypatch.setattr(preparation, "build", self._build)
        monkeypatch.setattr(preparation, "unfinished", self._unfinished)
        monkeypatch.setattr(preparation, "remember", lambda *_: ())

    def _build(self, job: Job, query: Query, plan: JobPlan, sha256: str) -> Any:
        which = (query.uid, sha256)
        ends = self.ends.get(which, [])
        return FakeExecution(
            job.root.checkpoint(query.uid),
            lambda: self.started.append(which),
            ends.pop(0) if ends else None,
            self.until.get(which),
        )

    def _unfinished(self, job: Job, query: Query) -> tuple[Query, JobPlan, str] | None:
        return (query, job.plan, "old") if job.root.checkpoint(query.uid).in_flight else None

    def go(self) -> RunReport:
        plan = plans.plan(*self.queries)
        job = Job(plan, "new", self.root.path, self.root, None, Environment(), print)  # type: ignore[arg-type]  # nothing asks the session
        supervisor = runner._Supervisor(job, self.events.append, (self.stop, threading.Event()), "close")
        return supervisor.run(self.queries)

    def ended(self) -> list[QueryEnded]:
        return [event for event in self.events if isinstance(event, QueryEnded)]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


def test_a_query_whose_plan_did_not_start_is_not_closed(runs: Runs) -> None:
    """What it has not read yet would be late for ever."""
    runs.ends["b", "old"] = [RuntimeError("no space left")]
    report = runs.go()
    assert runs.started == [("a", "old"), ("b", "old")]
    assert runs.root.checkpoint("a").closed_at is None
    assert runs.root.checkpoint("a").last_begun == 0
    assert [(query.stopped, query.failure is not None) for query in report.queries] == [
        (True, False),
        (False, True),
    ]
    assert runs.ended() == [QueryEnded("a", stopped=True, closed=False)]


def test_a_stop_while_epochs_are_finished_starts_and_closes_nothing(runs: Runs) -> None:
    runs.until["b", "old"] = runs.stop.set
    report = runs.go()
    assert runs.started == [("a", "old"), ("b", "old")]
    assert [runs.root.checkpoint(uid).last_begun for uid in "ab"] == [0, 0]
    assert [query.stopped for query in report.queries] == [True, True]
    assert all(event.stopped for event in runs.ended())


def test_a_late_worker_does_not_hand_an_epoch_to_another_plan(runs: Runs) -> None:
    runs.ends["a", "old"] = [RuntimeError(LATE), RuntimeError(LATE), None]
    report = runs.go()
    assert report.failures == ()
    assert runs.started[:4] == [("a", "old"), ("a", "old"), ("a", "old"), ("b", "old")]
    told = [event for event in runs.events if isinstance(event, QueryStarted)]
    assert [event.by_earlier_plan for event in told[:4]] == [True] * 4
    # The run's own plan, and then the end of its input.
    assert sorted(runs.started[4:]) == [("a", "new"), ("a", "new"), ("b", "new"), ("b", "new")]
    assert all(query.closed and not query.stopped for query in report.queries)


def test_a_worker_that_is_always_late_fails_by_the_plan_that_began_the_epoch(runs: Runs) -> None:
    runs.ends["a", "old"] = [RuntimeError(LATE)] * 9
    report = runs.go()
    assert runs.started == [("a", "old")] * 5 + [("b", "old")]
    assert [query.failure is not None for query in report.queries] == [True, False]
    assert runs.root.checkpoint("a").in_flight
