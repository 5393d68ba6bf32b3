"""From a plan to its run. Nothing here prints, and pyspark is imported only when a session opens."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from compiler.diagnostics.codes import CODES, MISSING_PATH
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import JobPlan, Query, Scan
from runtime.connectors.packages import driver_jars, packages_of, runs_python
from runtime.jobs.environment import Environment
from runtime.jobs.events import Event
from runtime.jobs.report import RunReport
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.java import find_java
from runtime.spark.launcher import started_by_spark
from runtime.state.root import StateRoot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from runtime.jobs.second_opinion import Places
    from runtime.spark.session import SessionSettings

JvmMode = Literal["full", "fast-start"]
OnEnd = Literal["leave_open", "close"]


@dataclass
class Control:
    """How a run can be ended from outside: `stop` finishes epochs in flight, `abandon` does not wait."""

    stop: threading.Event
    abandon: threading.Event

    @classmethod
    def new(cls) -> Control:
        """Nothing is asked for yet."""
        return cls(threading.Event(), threading.Event())


@dataclass(frozen=True)
class RunOptions:
    """What a run is asked to do.

    Args:
        on_end: the target's own if None.
        queries: uids of the queries to run, all if None.
        jvm: `fast-start` leaves the JVM's optimising compiler out, which costs more than it gives back in
            a run of seconds.
    """

    on_end: OnEnd | None = None
    full_refresh: bool = False
    queries: frozenset[str] | None = None
    jvm: JvmMode = "full"


def check_before_start(
    plan: JobPlan, project_dir: Path, options: RunOptions, environment: Environment
) -> None:
    """Looks for what would refuse the run anyway, before anything is started. It needs no pyspark.

    Raises:
        DiagnosticError: with all that was found.
    """
    found: list[Diagnostic] = []
    try:
        if not started_by_spark():
            find_java()
    except EnvironmentProblem as problem:
        found.append(environment_diagnostic(problem))
    try:
        with StateRoot((project_dir / plan.settings.state_root).absolute(), plan.project):
            pass
    except DiagnosticError as error:
        found += error.diagnostics
    missing = [m for query in queries_to_run(plan, options) for m in environment.missing(query)]
    found += [
        Diagnostic(MISSING_PATH, f"the jar of a driver, {jar}, does not exist", fix="correct driver.jar")
        for jar in driver_jars(plan, project_dir)
        if not jar.is_file()
    ]
    try:
        environment.spark_conf(plan.settings.spark)
    except DiagnosticError as error:
        found += error.diagnostics
    if found or missing:
        # All at once: what the sources lack as well, unless that cannot be known without the environment.
        sources = [] if missing else check_sources(plan, project_dir, options, environment)
        raise DiagnosticError(*found, *missing, *sources)


def check_sources(
    plan: JobPlan, project_dir: Path, options: RunOptions, environment: Environment
) -> list[Diagnostic]:
    """What the sources lack. Their code imports pyspark, which takes as long as a JVM takes to start."""
    from runtime.connectors.sources import SOURCES

    return [
        found
        for query in queries_to_run(plan, options)
        for op in environment.resolve(query).operators
        if isinstance(op, Scan) and op.connector in SOURCES
        for found in SOURCES[op.connector].check(op, project_dir)
        if found.is_error
    ]


def queries_to_run(plan: JobPlan, options: RunOptions) -> list[Query]:
    """The queries that were asked for and have a sink left."""
    return [
        query
        for query in plan.queries
        if (options.queries is None or query.uid in options.queries)
        and not all(sink.removed for sink in query.sinks)
    ]


def run_plan(
    plan: JobPlan,
    project_dir: Path,
    options: RunOptions,
    *,
    jvm_log: Path,
    control: Control | None = None,
    events: Callable[[Event], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
    waiting: Callable[[], None] = lambda: None,
    started: Callable[[], None] = lambda: None,
    environment: Environment | None = None,
) -> RunReport:
    """Opens a session and runs a plan in it.

    Args:
        plan: what to run.
        project_dir: what its relative paths are relative to.
        options: how.
        jvm_log: takes the JVM's output.
        control: ends the run from outside.
        events: told what happens.
        say: prints for console sinks.
        waiting: called if a cluster has given no executor after some seconds.
        started: called when the session is there, before the first query starts.
        environment: resolves `${env:NAME}`.

    Raises:
        DiagnosticError: the machine or the state refused the run, and nothing was started; or, with
            QUERY_FAILED, the JVM ended in the middle of it.
    """
    control = control or Control.new()
    environment = environment or Environment()
    check_before_start(plan, project_dir, options, environment)
    from runtime.spark.session import close_session

    settings = _settings(plan, jvm_log, environment, short_run=options.jvm == "fast-start")
    settings = dataclasses.replace(settings, jars=driver_jars(plan, project_dir))

    def while_starting() -> None:
        if found := check_sources(plan, project_dir, options, environment):
            raise DiagnosticError(*found)

    session = _open(settings, while_starting, waiting)
    try:
        started()
        from runtime.jobs.runner import run

        return run(
            plan,
            project_dir,
            session=session,
            on_end=options.on_end,
            full_refresh=options.full_refresh,
            select=options.queries,
            events=events,
            stop=control.stop,
            abandon=control.abandon,
            say=say,
            environment=environment,
        )
    finally:
        close_session(session)


def ask_spark(
    plan: JobPlan, jvm_log: Path, places: Places, environment: Environment | None = None
) -> tuple[Diagnostic, ...]:
    """What Spark's own checks say of a plan; a session is opened on this machine, and nothing is run.

    Args:
        plan: the plan.
        jvm_log: takes the JVM's output.
        places: to tell Spark's words at the user's lines.
        environment: resolves `${env:NAME}` of the target's configuration.

    Raises:
        DiagnosticError: no session can be opened.
    """
    if not started_by_spark():
        try:
            find_java()
        except EnvironmentProblem as problem:
            raise DiagnosticError(environment_diagnostic(problem)) from problem
    from tempfile import TemporaryDirectory

    from runtime.jobs.second_opinion import second_opinion
    from runtime.spark.session import close_session

    settings = _settings(plan, jvm_log, environment or Environment(), short_run=True)
    # An analyzer needs no executors, and who compiles may have no way to the cluster.
    session = _open(dataclasses.replace(settings, master="local[1]"))
    try:
        with TemporaryDirectory(prefix="headrace-") as folder:
            return second_opinion(plan, session, Path(folder), places)
    finally:
        close_session(session)


def _resolved(plan: JobPlan, environment: Environment) -> JobPlan:
    """The plan with the variables of its queries, as far as they are set."""
    queries = (query if environment.missing(query) else environment.resolve(query) for query in plan.queries)
    return replace(plan, queries=tuple(queries))


def _settings(plan: JobPlan, jvm_log: Path, environment: Environment, *, short_run: bool) -> SessionSettings:
    from runtime.spark.session import SessionSettings

    return SessionSettings(
        app_name=f"headrace {plan.project}",
        log_path=jvm_log,
        master=plan.settings.master,
        timezone=plan.timezone,
        parallelism=max((query.parallelism for query in plan.queries), default=2),
        conf=environment.spark_conf(plan.settings.spark),
        packages=packages_of(_resolved(plan, environment)),
        python_workers=runs_python(plan.queries),
        short_run=short_run,
    )


def _open(
    settings: SessionSettings,
    while_starting: Callable[[], None] = lambda: None,
    waiting: Callable[[], None] = lambda: None,
) -> SparkSession:
    from runtime.spark.session import open_session

    try:
        return open_session(settings, while_starting, waiting)
    except EnvironmentProblem as problem:
        raise DiagnosticError(environment_diagnostic(problem)) from problem


def environment_diagnostic(problem: EnvironmentProblem) -> Diagnostic:
    """What the Spark side says of the machine, in the words of a diagnostic."""
    message = problem.message.rstrip(".")
    if message[1:2].islower():
        message = message[0].lower() + message[1:]
    # The tail of a log may follow; its last lines say why.
    lines = [line.strip() for line in problem.cause.splitlines() if line.strip()]
    cause = " ".join(lines if len(lines) <= 4 else [lines[0], "…", *lines[-2:]])
    return Diagnostic(CODES[problem.code], message, cause=cause[:600] or None, fix=problem.fix)
