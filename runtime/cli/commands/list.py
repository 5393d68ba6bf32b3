"""`headrace list`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from compiler.diagnostics.diagnostic import Reporter
from runtime.cli.options import Common, common_options, script_argument
from runtime.cli.output import FINDINGS

if TYPE_CHECKING:
    from compiler.project.listing import Entry


@click.command("list", short_help="List sources, models, sinks and seeds.")
@script_argument
@click.option(
    "--output",
    "--format",
    "format_",
    type=click.Choice(FINDINGS),
    default="text",
    show_default=True,
    help="A table for people, or one JSON array; or, in place of the list, its errors and warnings in a form "
    "for machines.",
)
@common_options(select=True)
def command(common: Common, script: Path | None, format_: str) -> int:
    """List what the project declares: name, kind, where it stands, and what it reads.

    A project with mistakes is listed as far as it can be read; the mistakes are told, and the exit code
    is 2.
    """
    from compiler.project.selection import select
    from runtime.cli import loading

    common.output.findings_as(format_)
    pipeline = loading.compiled(common, script)
    if pipeline.listed is None or pipeline.graph is None:
        raise loading.refuse(common, *pipeline.diagnostics)
    found = list(pipeline.diagnostics)
    entries = list(pipeline.listed)
    if common.select:
        reporter = Reporter()
        names = select(pipeline.graph, common.select, reporter).names
        entries = [entry for entry in entries if entry.name in names]
        found += reporter.all()
    if format_ == "json":
        import json

        click.echo(json.dumps(to_builtins(entries), indent=2, ensure_ascii=False))
    elif common.output.as_json:
        for entry in entries:
            common.output.event("declared", **to_builtins(entry))
    elif format_ == "text":
        _print(entries)
    common.output.diagnostics(found)
    return loading.WRONG if any(d.is_error for d in found) else 0


def _print(entries: list[Entry]) -> None:
    rows = [
        (
            entry.kind if entry.connector is None else f"{entry.kind} ({entry.connector})",
            entry.name,
            f"{entry.file}:{entry.line}",
            "?" if entry.reads is None else ", ".join(entry.reads),
        )
        for entry in entries
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for kind, name, place, reads in rows:
        line = f"{kind:<{widths[0]}}  {name:<{widths[1]}}  {place:<{widths[2]}}"
        click.echo(f"{line}  reads {reads}" if reads else line.rstrip())
