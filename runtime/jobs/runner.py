"""Runs a job plan from start to end."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from compiler.diagnostics.codes import QUERY_FAILED
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import JobPlan, Query
from runtime.jobs import preparation
from runtime.jobs.environment import Environment
from runtime.jobs.events import Event, QueryEnded, QueryFailed, QueryStarted
from runtime.jobs.execution import Execution
from runtime.jobs.failures import diagnose, worker_was_late
from runtime.jobs.open_groups import count_open_groups
from runtime.jobs.preparation import Job
from runtime.jobs.report import QueryReport, RunReport, SinkReport
from runtime.spark.counters import SetAside
from runtime.state.fence import jvm_fence
from runtime.state.plans import keep_plan
from runtime.state.reads import read_names
from runtime.state.root import Current, StateRoot

_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.05
_MOST_RESTARTS = 4
# Between two restarts: queries whose workers were late at once would else be late at once again.
_RESTART_SECONDS = 2.0
# Runs the one epoch that is in flight and nothing after it.
_PENDING_ONLY = {"once": True}


def run(  # noqa: PLR0913  # each is a choice of its own, and all but three have a default
    plan: JobPlan,
    project_dir: Path,
    *,
    session: SparkSession,
    on_end: Literal["leave_open", "close"] | None = None,
    full_refresh: bool = False,
    select: Collection[str] | None = None,
    events: Callable[[Event], None] = lambda _: None,
    stop: threading.Event | None = None,
    abandon: threading.Event | None = None,
    say: Callable[[str], None] = print,
    environment: Environment | None = None,
) -> RunReport:
    """Runs the queries of a plan until their input is drained, one fails, or `stop` is set.

    Args:
        plan: what to run.
        project_dir: what the plan's relative paths are relative to.
        session: the session to run in; it is left open.
        on_end: what becomes of open windows when available input is drained; the plan's own by default.
        full_refresh: forget the state of the queries and empty their sinks first.
        select: uids of the queries to run, all by default.
        events: told what happens, from this thread.
        stop: set it to end the run cleanly: epochs in flight are finished, no other begins.
        abandon: set it to stop waiting for epochs in flight; the next run finishes them.
        say: prints for console sinks.
        environment: resolves `${env:NAME}`; the process's own by default.

    Returns:
        What was done. Failures of running queries are in it.

    Raises:
        DiagnosticError: the run was refused, and nothing was started.
    """
    state_root = StateRoot((project_dir / plan.settings.state_root).absolute(), plan.project)
    environment = environment or Environment()
    with _masked(environment), state_root as root, jvm_fence(session, root.path):
        sha256 = keep_plan(root, plan, project_dir)
        job = Job(plan, sha256, project_dir, root, session, environment, say)
        queries = preparation.live_queries(plan, select)
        preparation.check(job, queries, full_refresh)
        if full_refresh:
            preparation.refresh(job, queries)
        stops = (stop or threading.Event(), abandon or threading.Event())
        supervisor = _Supervisor(job, events, stops, on_end or plan.settings.on_end)
        return supervisor.run(queries)


@contextmanager
def _masked(environment: Environment) -> Iterator[None]:
    """Takes secrets out of what refuses a run; of a query that fails, `diagnose` does it."""
    try:
        yield
    except DiagnosticError as error:
        # Without the first one, whose text has them.
        raise DiagnosticError(*map(environment.masked, error.diagnostics)) from None


@dataclass
class _Task:
    """A query on its way through the run; its executions come one after the other.

    `started` says that the run's own plan was, after whatever an earlier one had to finish.
    """

    query: Query
    main: Execution
    done: list[Execution]
    started: bool = False
    ended: bool = False
    closing: bool = False
    stopped: bool = False
    restarts: int = 0
    failure: Diagnostic | None = None

    @property
    def current(self) -> Execution:
        return self.done[-1]


class _Supervisor:
    """Starts queries, watches them, and ends the others when one fails."""

    def __init__(
        self,
        job: Job,
        events: Callable[[Event], None],
        stops: tuple[threading.Event, threading.Event],
        on_end: str,
    ) -> None:
        self._job = job
        self._events = events
        self._stop, self._abandon = stops
        self._on_end = on_end
        self._next_restart = 0.0

    def run(self, queries: tuple[Query, ...]) -> RunReport:
        # The new plan's sinks are claimed first: a refusal must come before an old epoch is finished.
        job = self._job
        tasks = self._build(queries)
        try:
            for task in tasks:
                self._finish_epoch(task)
            retired: tuple[str, ...] = ()
            if self._ending(tasks):
                # Nothing of the new plan may start: an epoch of an earlier one may still be in flight, and a
                # query that has finished one has not read its input to the end.
                self._end(tasks)
            else:
                retired = preparation.remember(job, queries)
                self._run_to_the_end(tasks)
        except (Py4JError, ConnectionError) as error:
            # A call that is cut off ends in the plain kind; Java's own exceptions are its children.
            if isinstance(error, Py4JJavaError):
                raise
            # Too little memory is the usual reason. What was in flight is finished by the next run.
            _log.error("the JVM is gone", exc_info=error)
            raise DiagnosticError(_jvm_gone()) from error
        finally:
            for task in tasks:
                for execution in task.done:
                    execution.stop()
        reports = tuple(self._report(task) for task in tasks)
        return RunReport(reports, tuple(job.warnings), retired, self._stop.is_set())

    def _run_to_the_end(self, tasks: list[_Task]) -> None:
        """Starts the queries by the run's own plan, and watches them until all have ended."""
        for task in tasks:
            _begin_owed(task)
            task.started = True
            self._start(task, task.main, _trigger(task.query))
        while not all(task.ended for task in tasks):
            for task in tasks:
                self._step(task)
            if self._ending(tasks):
                self._end(tasks)
                break
            time.sleep(_POLL_SECONDS)

    def _build(self, queries: tuple[Query, ...]) -> list[_Task]:
        tasks: list[_Task] = []
        found: list[Diagnostic] = []
        for query in queries:
            try:
                main = preparation.build(self._job, query, self._job.plan, self._job.sha256)
                tasks.append(_Task(query, main, []))
            except DiagnosticError as error:
                found.extend(error.diagnostics)
        if found:
            raise DiagnosticError(*found)
        return tasks

    def _finish_epoch(self, task: _Task) -> None:
        """Finishes an epoch in flight with the plan that began it, and just that epoch."""
        if task.failure or self._stop.is_set():
            return
        begun = preparation.unfinished(self._job, task.query)
        if begun is None:
            return
        query, plan, sha256 = begun
        _log.info("query %s: finishing an epoch with the plan that began it (%s)", query.uid, sha256)
        # A run that was killed may have begun to put them into the order of the new plan.
        self._job.root.checkpoint(query.uid).arrange(read_names(query), read_names(query))

        def start() -> None:
            execution = preparation.build(self._job, query, plan, sha256)
            self._start(task, execution, _PENDING_ONLY, by_earlier_plan=sha256 != self._job.sha256)

        start()
        while not self._stop.is_set() and (task.current.active or self._restart(task, start)):
            self._tell(task.current)
            time.sleep(_POLL_SECONDS)
        self._settle(task)

    def _start(
        self, task: _Task, execution: Execution, trigger: dict[str, Any], by_earlier_plan: bool = False
    ) -> None:
        checkpoint = execution.checkpoint
        task.done.append(execution)
        self._events(
            QueryStarted(
                task.query.uid,
                checkpoint.incarnation(),
                checkpoint.last_committed + 1,
                resumed=checkpoint.last_begun >= 0,
                by_earlier_plan=by_earlier_plan,
            )
        )
        execution.start(trigger)

    def _step(self, task: _Task) -> None:
        if task.ended:
            return
        active = task.current.active
        self._tell(task.current)
        if active or self._restart(task, partial(self._start_again, task)):
            return
        self._settle(task)
        if task.failure is None and not task.closing and self._closes(task):
            task.closing = True
            task.main.checkpoint.begin_close()
            closing = preparation.build(self._job, task.query, self._job.plan, self._job.sha256)
            self._start(task, closing, _PENDING_ONLY)
            return
        task.ended = True
        if task.failure is None:
            closed = bool(task.query.state) and task.main.checkpoint.closed_at is not None
            if closed:
                ended = Current(self._job.sha256, closed=True, reads=read_names(task.query))
                self._job.root.write_current(task.query.uid, ended)
            self._events(QueryEnded(task.query.uid, stopped=False, closed=closed))

    def _restart(self, task: _Task, start: Callable[[], None]) -> bool:
        """Starts a query again whose Python worker was not up in time, which a busy machine does to it.

        `start` starts it with the plan that it ran by, which may be an earlier one. Spark 4.2 waits ten
        seconds, whatever is configured (`PythonWorkerFactory.createSimpleWorker`).
        """
        task.current.settle()
        error = task.current.error
        if error is None or task.restarts == _MOST_RESTARTS or not worker_was_late(error):
            return False
        now = time.monotonic()
        if now < self._next_restart:
            return True
        self._next_restart = now + _RESTART_SECONDS
        task.restarts += 1
        _log.warning("query %s: a Python worker was late; starting the query again", task.query.uid)
        start()
        return True

    def _start_again(self, task: _Task) -> None:
        again = preparation.build(self._job, task.query, self._job.plan, self._job.sha256)
        self._start(task, again, _PENDING_ONLY if task.closing else _trigger(task.query))

    def _closes(self, task: _Task) -> bool:
        """Whether windows are to be closed now: only where there is state, and only once.

        What runs in update mode has given its newest state already, and can go on from it.
        """
        checkpoint = task.main.checkpoint
        return (
            self._on_end == "close"
            and task.query.trigger_ms is None
            and bool(task.query.state)
            and task.query.output_mode == "append"
            and checkpoint.last_begun >= 0
            and checkpoint.closed_at is None
        )

    def _settle(self, task: _Task) -> None:
        self._tell(task.current)
        task.current.settle()
        error = task.current.error
        if error is not None and task.failure is None:
            task.failure = diagnose(task.query.uid, error, self._job.environment)
            self._events(QueryFailed(task.query.uid, task.failure))

    def _tell(self, execution: Execution) -> None:
        for event in execution.progress():
            self._events(event)

    def _ending(self, tasks: list[_Task]) -> bool:
        return self._stop.is_set() or any(task.failure for task in tasks)

    def _end(self, tasks: list[_Task]) -> None:
        """Stops what still runs, and looks once more at each: a second query may have failed too."""
        if self._stop.is_set():
            self._wait_for_epochs(tasks)
        for task in tasks:
            if task.ended:
                continue
            if not task.done:
                # The run was stopped before this query was started.
                task.stopped = True
            elif task.current.active:
                task.current.stop()
                self._tell(task.current)
                task.stopped = True
            else:
                self._settle(task)
                # Whoever has only finished an epoch of an earlier plan has not come to its own.
                task.stopped = task.current.held_back or (task.failure is None and not task.started)
            task.ended = True
            if task.failure is None and task.done:
                self._events(QueryEnded(task.query.uid, stopped=task.stopped, closed=False))

    def _wait_for_epochs(self, tasks: list[_Task]) -> None:
        """Waits until no epoch is in flight, or nobody wants to wait."""
        running = [task.current for task in tasks if not task.ended and task.done]
        for execution in running:
            execution.hold()
        while any(execution.busy for execution in running) and not self._abandon.is_set():
            for execution in running:
                self._tell(execution)
            time.sleep(_POLL_SECONDS)

    def _report(self, task: _Task) -> QueryReport:
        executions = task.done or [task.main]
        closed = bool(task.query.state) and task.main.checkpoint.closed_at is not None
        open_groups = next((e.open_groups for e in reversed(task.done) if e.open_groups is not None), None)
        if not task.query.state or closed or task.failure is not None:
            open_groups = 0
        elif open_groups is None:
            open_groups = count_open_groups(self._job.session, task.main.checkpoint)
        return QueryReport(
            uid=task.query.uid,
            epochs=sum(e.epochs for e in executions),
            input_rows=sum(e.input_rows for e in executions),
            late_rows_dropped=sum(e.late_rows_dropped for e in executions),
            open_groups=open_groups,
            closed=closed,
            stopped=task.stopped,
            failure=task.failure,
            set_aside=_set_aside(executions),
            sinks=tuple(
                SinkReport(
                    sink.uid,
                    sink.connector,
                    sum(e.writers[sink.uid].rows_written for e in executions if sink.uid in e.writers),
                    task.main.writers[sink.uid].location,
                )
                for sink in task.query.sinks
                if not sink.removed
            ),
        )


def _begin_owed(task: _Task) -> None:
    """Begins the epoch for which the run before did not live long enough, if there is one."""
    checkpoint = task.main.checkpoint
    if task.query.state and task.query.output_mode == "append":
        owed = checkpoint.owed_watermark_ms
        if owed is not None:
            checkpoint.begin_empty(owed)


def _set_aside(executions: Sequence[Execution]) -> tuple[SetAside, ...]:
    total = sum((execution.set_aside for execution in executions), Counter[tuple[str, str]]())
    return tuple(SetAside(source, reason, rows) for (source, reason), rows in sorted(total.items()))


def _jvm_gone() -> Diagnostic:
    return Diagnostic(
        QUERY_FAILED,
        "Spark's JVM ended while queries were running",
        cause="it was killed, or had too little memory; what has been committed stays",
        fix="run again: epochs in flight are finished first; the log may say more",
    )


def _trigger(query: Query) -> dict[str, Any]:
    if query.trigger_ms is None:
        return {"availableNow": True}
    return {"processingTime": f"{query.trigger_ms} milliseconds"}
