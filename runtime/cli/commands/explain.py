"""`headrace explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from runtime.cli.options import Common, common_options, script_argument
from runtime.cli.output import FINDINGS

if TYPE_CHECKING:
    from compiler.graphs.model import Graphs, Level

_FORMATS: Final = ("text", "json", "mermaid", "html")
_LEVELS: Final = ("stream", "job", "execution")


@click.command("explain", short_help="Show how the project becomes chains, queries and state.")
@script_argument
@click.option(
    "--level",
    type=click.Choice(_LEVELS),
    default="job",
    show_default=True,
    help="stream: operators as they were written; job: queries, their chains and exchanges; execution: the "
    "stages that Spark runs, with their state.",
)
@click.option(
    "--format",
    "--output",
    "format_",
    type=click.Choice((*_FORMATS, *(form for form in FINDINGS if form not in _FORMATS))),
    default="text",
    show_default=True,
    help="Text for people, the graph as JSON, a Mermaid flowchart, or one HTML page with all three levels; "
    "or, in place of it, errors and warnings in a form for machines.",
)
@common_options(select=True)
def command(common: Common, script: Path | None, level: Level, format_: str) -> None:
    """Show what each query reads, keeps and writes, and why its sinks share it.

    Operators that run together stand in one box; what comes from another box is labelled with how its rows
    move. Nothing is started and nothing is written.
    """
    from msgspec.structs import replace

    from compiler.graphs.build import build_graphs
    from compiler.graphs.model import LEVELS
    from runtime.cli import loading

    common.output.findings_as(format_)
    pipeline = loading.load(common, script, whole=True)
    plan, compiled = pipeline.plan, pipeline.compiled
    assert plan is not None
    assert compiled is not None
    chosen = loading.selected(common, pipeline).queries
    if chosen is not None:
        plan = replace(plan, queries=tuple(query for query in plan.queries if query.uid in chosen))
    if format_ not in _FORMATS:
        return
    levels = LEVELS if format_ == "html" else (level,)
    graphs = build_graphs(compiled.logical, compiled.groups, plan, levels)
    click.echo(_written(graphs, level, format_), nl=False)


def _written(graphs: Graphs, level: Level, format_: str) -> str:
    """The graphs in a format."""
    from compiler.diagnostics.secrets import without_secrets
    from compiler.explain.pictures import pictures

    if format_ == "json":
        from compiler.jobplan.codec import to_json

        return without_secrets(to_json(graphs))
    drawn = pictures(graphs)
    if format_ == "html":
        from compiler.explain.html import to_html

        return to_html(drawn, level)
    if format_ == "mermaid":
        from compiler.explain.mermaid import to_mermaid

        return without_secrets(to_mermaid(drawn[0]))
    from compiler.explain.text import to_text

    return without_secrets(to_text(drawn[0]))
