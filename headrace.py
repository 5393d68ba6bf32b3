"""headrace: declarative streaming pipelines, compiled to Spark Structured Streaming.

    import headrace

    compiled = headrace.compile("shop")            # no Java, no Spark
    for diagnostic in compiled.diagnostics:
        print(headrace.render(diagnostic))

    report = headrace.run("shop", on_end="close")  # opens a session, runs, closes it
    print(report.rows_written)

`scalar`, `ProcessFunction` and the states are for the files under a project's functions/, and `testing` for
their unit tests.

A path is a project's folder or one `.sql` file. Nothing of Spark is imported before `run`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from compiler.version import VERSION

if TYPE_CHECKING:
    from compiler.compile import Compiled
    from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
    from compiler.diagnostics.render import render
    from compiler.jobplan.model import JobPlan
    from runtime import testing
    from runtime.cli.pipeline import Pipeline
    from runtime.functions.api import (
        Context,
        ListState,
        MapState,
        ProcessFunction,
        Row,
        ValueState,
        aggregate,
        list_state,
        map_state,
        scalar,
        value_state,
    )
    from runtime.jobs.events import EpochCompleted, Event, QueryEnded, QueryFailed, QueryStarted
    from runtime.jobs.report import QueryReport, RunReport, SinkReport

__version__ = VERSION

__all__ = [
    "Compiled",
    "Context",
    "Diagnostic",
    "DiagnosticError",
    "EpochCompleted",
    "Event",
    "JobPlan",
    "ListState",
    "MapState",
    "Pipeline",
    "ProcessFunction",
    "QueryEnded",
    "QueryFailed",
    "QueryReport",
    "QueryStarted",
    "Row",
    "RunReport",
    "SinkReport",
    "ValueState",
    "__version__",
    "aggregate",
    "compile",
    "list_state",
    "map_state",
    "render",
    "run",
    "scalar",
    "testing",
    "value_state",
]

_HOMES = {
    "Compiled": "compiler.compile",
    "Diagnostic": "compiler.diagnostics.diagnostic",
    "DiagnosticError": "compiler.diagnostics.diagnostic",
    "EpochCompleted": "runtime.jobs.events",
    "Event": "runtime.jobs.events",
    "JobPlan": "compiler.jobplan.model",
    "Pipeline": "runtime.cli.pipeline",
    "QueryEnded": "runtime.jobs.events",
    "QueryFailed": "runtime.jobs.events",
    "QueryReport": "runtime.jobs.report",
    "QueryStarted": "runtime.jobs.events",
    "RunReport": "runtime.jobs.report",
    "SinkReport": "runtime.jobs.report",
    "render": "compiler.diagnostics.render",
    **dict.fromkeys(
        (
            *("Context", "ListState", "MapState", "ProcessFunction", "Row", "ValueState"),
            *("aggregate", "list_state", "map_state", "scalar", "value_state"),
        ),
        "runtime.functions.api",
    ),
}


def compile(  # noqa: A001  # `headrace.compile`, as `re.compile`
    path: str | Path,
    *,
    target: str | None = None,
    variables: Mapping[str, object] | None = None,
) -> Pipeline:
    """Loads and compiles a project, or a script, and writes nothing.

    Args:
        path: the folder that holds headrace.yml, or a .sql file.
        target: a target of headrace.yml, its default if left out.
        variables: those of `--vars`; they go before all others.

    Returns:
        The findings (`diagnostics`, `has_errors`) and, if there are no errors, the job plan (`plan`).
    """
    from runtime.cli.pipeline import compile_path

    return compile_path(Path(path), target=target, variables=variables)


def run(
    path: str | Path,
    *,
    target: str | None = None,
    variables: Mapping[str, object] | None = None,
    select: Collection[str] = (),
    on_end: Literal["leave_open", "close"] | None = None,
    full_refresh: bool = False,
    events: Callable[[Event], None] = lambda _: None,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
) -> RunReport:
    """Compiles a project, or a script, and runs it in a session of its own, which it closes.

    Args:
        path: the folder that holds headrace.yml, or a .sql file.
        target: a target of headrace.yml, its default if left out.
        variables: those of `--vars`; they go before all others.
        select: names as `--select` takes them; whole queries run. Everything if empty.
        on_end: what becomes of open windows when available input is read, the target's own if left out.
        full_refresh: forget state and empty sinks first. Nobody is asked.
        events: told what happens, as it happens.
        say: prints the rows of console sinks.
        stop: set it to finish the epochs in flight and end.

    Returns:
        What was done; queries that failed are in it.

    Raises:
        DiagnosticError: the project, the machine or the state is wrong, and nothing was started.
    """
    from compiler.diagnostics.diagnostic import DiagnosticError
    from runtime.cli import target as output
    from runtime.cli.pipeline import choose
    from runtime.cli.running import Control, RunOptions, run_plan

    pipeline = compile(path, target=target, variables=variables)
    if pipeline.plan is None:
        raise DiagnosticError(*(d for d in pipeline.diagnostics if d.is_error))
    queries = choose(pipeline, select).queries
    output.prepare(pipeline.target_dir)
    control = Control(stop or threading.Event(), threading.Event())
    return run_plan(
        pipeline.plan,
        pipeline.project_dir,
        RunOptions(on_end, full_refresh, queries),
        jvm_log=pipeline.target_dir / output.LOGS / "spark.log",
        control=control,
        events=events,
        say=say,
    )


def __getattr__(name: str) -> Any:
    if name == "testing":
        return import_module("runtime.testing")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
