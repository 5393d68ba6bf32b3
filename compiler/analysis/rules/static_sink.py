"""A sink takes the rows of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan


def static_sink(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR308 for a sink that reads nothing but seeds."""
    for sink in plan.sinks:
        if not sink.node.is_stream:
            yield Diagnostic(
                codes.NOT_YET_STREAMING,
                f"sink `{sink.name}` reads no stream",
                sink.span,
                cause="all its rows come from seeds, so there would be nothing to wait for",
                fix="read from a source, directly or through models",
            )
