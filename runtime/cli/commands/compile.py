"""`headrace compile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from compiler.diagnostics.diagnostic import Reporter
from runtime.cli.options import Common, common_options, script_argument

if TYPE_CHECKING:
    from runtime.cli.pipeline import Pipeline


@click.command("compile", short_help="Check the project and write its job plan to target/.")
@script_argument
@click.option(
    "--check",
    is_flag=True,
    help="Ask Spark too: its analyzer and its check of streaming queries look at every query. Starts a JVM, "
    "reads no data.",
)
@click.option(
    "--rechain",
    is_flag=True,
    help="Form queries as if none had run, and tell what would begin anew; `run --rechain` does it.",
)
@click.option(
    "--emit",
    type=click.Choice(["pyspark"]),
    help="Write the queries, or those of --select, as a PySpark program that needs no headrace.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where --emit writes to.  [default: stdout]",
)
@common_options(select=True, findings=True)
def command(
    common: Common, script: Path | None, check: bool, rechain: bool, emit: str | None, out: Path | None
) -> None:
    """Check the project, or one script, and write its job plan.

    The plan of a project goes to target/job_plan.json and is always the whole one; --select narrows the
    summary. No Java and no Spark are needed, unless --check asks them. Ends with exit code 2 if there are
    errors; warnings do not stop anything.
    """
    from compiler.diagnostics.diagnostic import DiagnosticError
    from compiler.jobplan.model import location
    from runtime.cli import loading, target
    from runtime.cli.output import counted

    pipeline = loading.load(
        common, script, remember=not rechain, whole=check or emit is not None, rechain=rechain
    )
    plan, output = pipeline.plan, common.output
    assert plan is not None
    chosen = loading.selected(common, pipeline).queries
    name = target.PLAN if not pipeline.script else f"{plan.project}.{target.PLAN}"
    try:
        file = target.write(pipeline.target_dir, name, pipeline.plan_json)
    except DiagnosticError as error:
        raise loading.refused_with(common, error) from error
    if check:
        _ask_spark(common, pipeline)
    if rechain:
        _tell_cost(common, pipeline)
    if emit is not None:
        program = _program(common, pipeline, chosen)
        if out is None:
            click.echo(program, nl=False)
            return
        _save(common, out, program)
        output.text(f"program: {_relative(out.absolute())}")
    queries = [q for q in plan.queries if chosen is None or q.uid in chosen]
    sinks = [sink for query in queries for sink in query.sinks if not sink.removed]
    warnings = sum(not d.is_error for d in pipeline.diagnostics)
    told = [counted(len(queries), "query", "queries"), counted(len(sinks), "sink")]
    if warnings:
        told.append(counted(warnings, "warning"))
    shown = _relative(file)
    output.text(
        f"{output.paint('good', 'compiled')} {plan.project} for target {plan.target}: {', '.join(told)}"
    )
    for query in queries:
        stateful = f", {counted(len(query.state), 'stateful operator')}" if query.state else ""
        # What keeps it apart from others is told by `explain`.
        output.text(f"  query {query.uid}{stateful}: {query.reason.partition(';')[0]}")
        for sink in query.sinks:
            if not sink.removed:
                output.text(f"    {sink.uid} -> {sink.connector} {location(sink.options)}".rstrip())
    output.text(f"job plan: {shown}")
    output.event(
        "compiled",
        project=plan.project,
        target=plan.target,
        queries=[query.uid for query in queries],
        sinks=[sink.uid for sink in sinks],
        warnings=warnings,
        job_plan=str(file),
    )


def _tell_cost(common: Common, pipeline: Pipeline) -> None:
    """Tells which queries would be others than those that run."""
    from compiler.chain.rechain import changes
    from runtime.cli.pipeline import memory

    assert pipeline.plan is not None
    assert pipeline.project is not None
    manifest = memory(pipeline.project_dir, pipeline.project, Reporter())
    for line in changes(pipeline.plan, manifest):
        common.output.text(line)


def _program(common: Common, pipeline: Pipeline, chosen: frozenset[str] | None) -> str:
    """The queries as a PySpark program.

    Raises:
        Refused: one of them has no such form.
    """
    from msgspec.structs import replace

    from compiler.diagnostics.diagnostic import DiagnosticError
    from compiler.emit.program import to_pyspark
    from runtime.cli import loading

    plan, compiled = pipeline.plan, pipeline.compiled
    assert plan is not None
    assert compiled is not None
    if chosen is not None:
        plan = replace(plan, queries=tuple(query for query in plan.queries if query.uid in chosen))
    sinks = {sink.uid: sink.span for sink in compiled.logical.sinks}
    try:
        return to_pyspark(plan, {**sinks, **compiled.logical.places})
    except DiagnosticError as error:
        raise loading.refused_with(common, error) from error


def _save(common: Common, file: Path, text: str) -> None:
    """Writes what was asked for.

    Raises:
        Refused: it cannot be written.
    """
    from runtime.cli import loading
    from runtime.cli.pipeline import not_writable

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise loading.refused_with(common, not_writable(file, error)) from error


def _ask_spark(common: Common, pipeline: Pipeline) -> None:
    """Tells what Spark has against the plan.

    Raises:
        Refused: it has something against it, or cannot be asked.
    """
    from compiler.diagnostics.diagnostic import DiagnosticError
    from runtime.cli import loading, target
    from runtime.cli.running import ask_spark
    from runtime.jobs.second_opinion import Places

    assert pipeline.plan is not None
    assert pipeline.project is not None
    assert pipeline.compiled is not None
    columns = {c.name.value.lower(): c.name.span for s in pipeline.project.sources for c in s.columns}
    places = Places(pipeline.compiled.logical.places, columns)
    try:
        log = pipeline.target_dir / target.LOGS / "spark.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        found = ask_spark(pipeline.plan, log, places)
    except DiagnosticError as error:
        raise loading.refused_with(common, error) from error
    if found:
        raise loading.refuse(common, *found)


def _relative(file: Path) -> str:
    """The path as it is shortest to read from here."""
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)
