"""`headrace run`."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from runtime.cli.options import Common, common_options, script_argument

if TYPE_CHECKING:
    from compiler.diagnostics.diagnostic import DiagnosticError
    from compiler.jobplan.model import JobPlan
    from runtime.cli.loading import Refused
    from runtime.cli.pipeline import Pipeline
    from runtime.cli.progress import Progress
    from runtime.cli.running import RunOptions
    from runtime.jobs.environment import Environment
    from runtime.jobs.report import RunReport

_ABANDONED = 130
_WAITING = (
    "the cluster has given no executor yet: no worker has the cores and the memory that are asked for, "
    "or others have taken them"
)


@click.command("run", short_help="Compile the project, or one script, and run its queries.")
@script_argument
@click.option(
    "--on-end",
    type=click.Choice(["close", "leave_open"]),
    help="What becomes of open windows when available input has been read: close them (nothing can follow) "
    "or leave them open for the next run.  [default: the target's]",
)
@click.option("--full-refresh", is_flag=True, help="Start over: forget state, empty sinks, read all again.")
@click.option("--yes", "-y", is_flag=True, help="Agree to what --full-refresh throws away.")
@click.option(
    "--trigger",
    metavar="TIME",
    help="available_now, or a time such as '5 seconds' between epochs.  [default: the target's]",
)
@click.option(
    "--parallelism",
    type=click.IntRange(1, 99_999),
    metavar="NUMBER",
    help="State partitions of each query, whatever models and the target say; a query that has run keeps its "
    "own.",
)
@click.option(
    "--rechain",
    is_flag=True,
    help="Form queries as if none had run. Those that come out otherwise begin anew, which takes "
    "--full-refresh; `compile --rechain` tells which.",
)
@click.option(
    "--jvm",
    type=click.Choice(["full", "fast-start"]),
    default="full",
    show_default=True,
    help="fast-start lets the JVM compile to simpler code: the first rows come some seconds sooner, and long "
    "runs are slower.",
)
@common_options(select=True, findings=True)
def command(
    common: Common,
    script: Path | None,
    on_end: str | None,
    full_refresh: bool,
    yes: bool,
    trigger: str | None,
    parallelism: int | None,
    rechain: bool,
    jvm: str,
) -> int:
    """Compile the project, or one script, and run its queries.

    With the trigger available_now, the default, a run reads what there is, writes the results and ends; run
    again to go on from there. Ctrl-C, or SIGTERM, finishes the epoch in flight and ends cleanly; a second
    Ctrl-C abandons it, and the next run finishes it.

    Exit codes: 0 all is well, also after a clean stop; 1 a query failed; 2 the project or the environment is
    wrong, and nothing was started; 130 an epoch was abandoned.
    """
    from runtime.cli import loading, refresh
    from runtime.cli.running import RunOptions, queries_to_run
    from runtime.jobs.environment import Environment

    began = time.monotonic()
    pipeline = loading.load(common, script, remember=not rechain, rechain=rechain)
    assert pipeline.plan is not None
    plan = _with_trigger(common, pipeline.plan, trigger)
    if parallelism is not None:
        plan = replace(plan, queries=tuple(replace(q, parallelism=parallelism) for q in plan.queries))
    if on_end == "close" and any(query.trigger_ms is not None for query in plan.queries):
        raise click.UsageError("--on-end close needs --trigger available_now: other runs have no end")
    chosen = loading.selected(common, pipeline)
    if chosen.along:
        names = ", ".join(chosen.along)
        common.output.both(f"running too, as they share a query: {names}", "came_along", sinks=chosen.along)
    options = RunOptions(
        on_end="close" if on_end == "close" else "leave_open" if on_end else None,
        full_refresh=full_refresh,
        queries=chosen.queries,
        jvm="fast-start" if jvm == "fast-start" else "full",
    )
    environment = Environment()
    if full_refresh:
        goes = refresh.what_goes(plan, pipeline.project_dir, queries_to_run(plan, options), environment)
        if not refresh.agreed(common.output, goes, yes=yes):
            common.output.both("nothing was thrown away, nothing was run", "refused")
            return loading.WRONG
    return _run(common, pipeline, plan, options, environment, began)


def _run(
    common: Common,
    pipeline: Pipeline,
    plan: JobPlan,
    options: RunOptions,
    environment: Environment,
    began: float,
) -> int:
    """Runs the plan and tells what came of it; gives the exit code."""
    from compiler.diagnostics.diagnostic import DiagnosticError
    from compiler.jobplan.codec import to_json
    from runtime.cli import loading, logs, summary, target
    from runtime.cli.pipeline import not_writable
    from runtime.cli.running import Control, run_plan
    from runtime.cli.signals import Signals

    gc.enable()  # a run may take days
    output = common.output
    try:
        target.prepare(pipeline.target_dir)
        if not pipeline.script:
            target.write(pipeline.target_dir, target.PLAN, to_json(plan))
        jvm_log = _start_logging(pipeline.target_dir / target.LOGS, environment)
    except DiagnosticError as error:
        raise loading.refused_with(common, error) from error
    except OSError as error:
        raise loading.refused_with(common, not_writable(pipeline.target_dir, error)) from error
    output.both(f"starting Spark for {plan.project}, target {plan.target}", "starting", target=plan.target)
    control = Control.new()
    progress: list[Progress] = []

    def show() -> Progress:
        if not progress:
            progress.append(_progress(common))
        return progress[0]

    def tell(abandoning: bool) -> None:
        from runtime.cli.progress import ABANDONING, STOPPING

        told = ABANDONING if abandoning else STOPPING
        if progress:
            progress[0].note(told)
        else:
            output.both(told, "note")

    try:
        with Signals(control, tell) as signals:
            report = run_plan(
                plan,
                pipeline.project_dir,
                options,
                jvm_log=jvm_log,
                control=control,
                events=lambda event: show().event(event),
                say=lambda text: show().say(text),
                waiting=lambda: output.both(_WAITING, "waiting"),
                started=signals.started,
                environment=environment,
            )
    except DiagnosticError as error:
        _close(progress)
        output.diagnostics(error.diagnostics)
        return loading.FAILED if _had_begun(error) else loading.WRONG
    finally:
        _close(progress)
        logs.flush()
    output.diagnostics([*pipeline.policy.allowed(report.warnings), *report.failures])
    bounded = all(query.trigger_ms is None for query in plan.queries)
    summary.tell(output, report, seconds=time.monotonic() - began, bounded=bounded)
    return _exit_code(report, abandoned=control.abandon.is_set())


def _had_begun(error: DiagnosticError) -> bool:
    """Whether queries ran already: the JVM has ended under them."""
    from compiler.diagnostics.codes import QUERY_FAILED

    return any(found.code is QUERY_FAILED for found in error.diagnostics)


def _exit_code(report: RunReport, *, abandoned: bool) -> int:
    from runtime.cli.loading import FAILED

    if report.failures:
        return FAILED
    return _ABANDONED if abandoned else 0


def _start_logging(folder: Path, environment: Environment) -> Path:
    from runtime.cli import logs

    return logs.start_logging(folder, environment.mask)


def _progress(common: Common) -> Progress:
    """The table on a terminal, else lines or objects."""
    import sys

    from runtime.cli.progress import JsonProgress, LineProgress

    output = common.output
    if output.as_json:
        return JsonProgress(output)
    if output.is_document or not sys.stdout.isatty():
        return LineProgress(output)
    from runtime.cli.live import LiveProgress

    return LiveProgress(color=output.color)


def _close(progress: list[Progress]) -> None:
    while progress:
        progress.pop().close()


def _with_trigger(common: Common, plan: JobPlan, trigger: str | None) -> JobPlan:
    """The plan with the trigger of the command line."""
    if trigger is None:
        return plan
    from compiler.syntax.durations import parse_duration_ms

    milliseconds = None
    if trigger.strip().lower() not in ("available_now", "availablenow"):
        milliseconds = parse_duration_ms(trigger)
        if milliseconds is None:
            raise _bad_trigger(common, trigger)
    return replace(plan, queries=tuple(replace(q, trigger_ms=milliseconds) for q in plan.queries))


def _bad_trigger(common: Common, trigger: str) -> Refused:
    from compiler.diagnostics.codes import WRONG_VALUE
    from compiler.diagnostics.diagnostic import Diagnostic
    from compiler.diagnostics.source import SourceFile, whole_file
    from compiler.diagnostics.suggest import did_you_mean
    from runtime.cli import loading

    place = whole_file(SourceFile("--trigger", trigger))
    fix = did_you_mean(trigger, ["available_now"]) or "write available_now, or a time such as '5 seconds'"
    return loading.refuse(common, Diagnostic(WRONG_VALUE, f"`{trigger}` is no trigger", place, fix=fix))
