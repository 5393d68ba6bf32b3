"""OVER with a frame that time does not bound keeps something of every partition."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Over


def over_state(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR334 (warning) for OVER ROWS and for frames without a beginning, unless a TTL was given."""
    for node in walk(*(sink.node for sink in plan.sinks)):
        if isinstance(node, Over) and node.is_stream and node.is_unbounded and not node.allow_unbounded:
            yield Diagnostic(
                codes.OVER_STATE,
                "something of every partition is kept for ever",
                plan.places.get(node.uid),
                cause="a frame of rows reaches back to the partition's last rows, however old they are",
                fix="say how long a partition is kept: state_ttl = '1 d', or allow_unbounded = true; or use "
                "RANGE with an interval",
            )
