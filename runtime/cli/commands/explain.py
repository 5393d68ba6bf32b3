"""`headrace explain`."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.options import Common, common_options, script_argument
from runtime.cli.output import FINDINGS


@click.command("explain", short_help="Show how the project becomes chains, queries and state.")
@script_argument
@click.option(
    "--format",
    "--output",
    "format_",
    type=click.Choice(FINDINGS),
    default="text",
    show_default=True,
    help="Text for people, or the job plan as JSON; or, in place of it, errors and warnings in a form for "
    "machines.",
)
@common_options(select=True)
def command(common: Common, script: Path | None, format_: str) -> None:
    """Show what each query reads, keeps and writes, and why its sinks share it.

    Operators that run together stand in one list; what is set further in comes over an exchange. Nothing
    is started and nothing is written.
    """
    from msgspec.structs import replace

    from runtime.cli import loading

    common.output.findings_as(format_)
    pipeline = loading.load(common, script)
    plan = pipeline.plan
    assert plan is not None
    chosen = loading.selected(common, pipeline).queries
    if chosen is not None:
        plan = replace(plan, queries=tuple(query for query in plan.queries if query.uid in chosen))
    if format_ == "json":
        from compiler.diagnostics.secrets import without_secrets
        from compiler.jobplan.codec import to_json

        click.echo(without_secrets(to_json(plan)), nl=False)
        return
    if format_ != "text":
        return
    from compiler.explain.tree import explain_text

    click.echo(explain_text(plan), nl=False)
