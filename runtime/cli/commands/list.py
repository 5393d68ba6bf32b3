"""`headrace list`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.cli.options import Common, common_options, script_argument
from runtime.cli.output import FINDINGS

if TYPE_CHECKING:
    from compiler.project.selection import Graph
    from compiler.syntax.declarations import OptionDecl, Project, Text


@dataclass(frozen=True)
class Entry:
    """A line of the list. `reads` is None where a mistake keeps it from being known."""

    name: str
    kind: str
    file: str
    line: int
    connector: str | None
    reads: tuple[str, ...] | None
    description: str | None


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
    from compiler.analysis.bind import bind_project
    from compiler.diagnostics.diagnostic import Reporter
    from compiler.diagnostics.policy import raises_of
    from compiler.project.selection import graph_of, select
    from runtime.cli import loading
    from runtime.cli.pipeline import read

    common.output.findings_as(format_)

    reporter = Reporter()
    variables = loading.given_variables(common, reporter)
    path = loading.project_path(common, script)
    project = read(path, target=common.target, variables=variables, reporter=reporter)
    if project is None:
        raise loading.refuse(common, *reporter.all())
    loading.tell_project(common, project)
    graph = graph_of(bind_project(project, reporter))
    entries = _entries(project, graph)
    if common.select:
        names = select(graph, common.select, reporter).names
        entries = [entry for entry in entries if entry.name in names]
    if format_ == "json":
        import json

        click.echo(json.dumps([asdict(entry) for entry in entries], indent=2, ensure_ascii=False))
    elif common.output.as_json:
        for entry in entries:
            common.output.event("declared", **asdict(entry))
    elif format_ == "text":
        _print(entries)
    policy = replace(project.policy, raises=(*project.policy.raises, *raises_of(common.warn_as_error or "")))
    found = policy.judge(reporter.all())
    common.output.diagnostics(found)
    return loading.WRONG if any(d.is_error for d in found) else 0


def _entries(project: Project, graph: Graph) -> list[Entry]:
    """All declarations, sources first, in the order of their files."""
    found: list[Entry] = []

    def add(name: Text, kind: str, options: tuple[OptionDecl, ...], description: str | None) -> None:
        file = name.span.file
        line, _ = file.position(name.span.start)
        reads = graph.reads.get(name.value)
        found.append(Entry(name.value, kind, file.path, line, _connector(options), reads, description))

    for source in project.sources:
        add(source.name, "source", source.options, source.description)
    for seed in project.seeds:
        add(seed.name, "seed", (), None)
    order: Mapping[str, int] = {name: number for number, name in enumerate(graph.kinds)}
    # Each model after those that it reads; what could not be bound comes last.
    for model in sorted(project.models, key=lambda m: order.get(m.name.value, len(order))):
        add(model.name, "model", (), model.description)
    for sink in project.sinks:
        add(sink.name, "sink", sink.options, sink.description)
    return found


def _connector(options: tuple[OptionDecl, ...]) -> str | None:
    return next((o.value.value for o in options if o.key.value.lower() == "connector"), None)


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
