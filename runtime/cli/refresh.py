"""`--full-refresh`: what it throws away is listed and asked for first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from compiler.jobplan.model import JobPlan, Query
from runtime.cli.output import Output
from runtime.connectors import paths
from runtime.jobs.environment import Environment


def what_goes(
    plan: JobPlan, project_dir: Path, queries: Sequence[Query], environment: Environment
) -> list[str]:
    """A line for each thing that is there now and will not be afterwards."""
    root = (project_dir / plan.settings.state_root).absolute()
    found: list[str] = []
    for query in queries:
        folder = root / "queries" / query.uid
        if folder.exists():
            found.append(f"state of query {query.uid}: {_shown(folder, project_dir)}")
        resolvable = not environment.missing(query)
        for sink in environment.resolve(query).sinks if resolvable else query.sinks:
            path = sink.options.get("path")
            if sink.removed or not isinstance(path, str):
                continue
            if paths.is_url(path) or paths.local(path, project_dir).exists():
                found.append(f"rows of sink {sink.uid}: {environment.mask(path)}")
    return found


def agreed(output: Output, goes: Sequence[str], *, yes: bool) -> bool:
    """Whether all that may go. Asks on a terminal, and takes silence for no."""
    if not goes:
        return True
    output.text("--full-refresh throws away:")
    for entry in goes:
        output.text(f"  {entry}")
    output.event("full_refresh", throws_away=list(goes))
    if yes:
        return True
    if not sys.stdin.isatty():
        click.echo("error: nobody can be asked here; say --yes to agree beforehand", err=True)
        return False
    return click.confirm("and computes all of it again from the start of its sources. Go on?", err=True)


def _shown(path: Path, project_dir: Path) -> str:
    try:
        return str(path.relative_to(project_dir.absolute()))
    except ValueError:
        return str(path)
