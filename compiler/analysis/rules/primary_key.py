"""A primary key means changes by key, and the sink must take them."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan


def primary_key(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR408 for a key on a sink that only appends."""
    for sink in plan.sinks:
        # What takes changes nowhere else is told by `changelog_sink`, with another way out.
        if sink.primary_key and not sink.takes_changes and sink.node.changelog.is_append:
            yield Diagnostic(
                codes.PRIMARY_KEY,
                f"connector `{sink.connector.name}` only appends, so `{sink.name}` cannot have a primary key",
                sink.places.get("primary_key", sink.span),
                cause="a second row of a key would stand beside the first instead of replacing it",
                fix="remove PRIMARY KEY",
            )
