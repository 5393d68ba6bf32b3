"""A project that writes nothing does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan


def no_sink(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR218, at the last model: the likeliest result."""
    if plan.sinks or not plan.relations:
        return
    last = plan.relations[-1]
    leaf = next((r for r in reversed(plan.relations) if r.name.lower() not in plan.read), last)
    yield Diagnostic(
        codes.NO_SINK,
        "the project has no sink",
        leaf.span,
        label="nothing takes these rows",
        cause="models are only computed for a sink",
        fix=f"add CREATE SINK out WITH (connector = 'console') AS SELECT * FROM {leaf.name}",  # noqa: S608 - shown, never run
    )
