"""The versions of a table are kept for ever."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import TemporalJoin


def versioned_state(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR340 (warning) for the versioned side of a temporal join, unless its model allows such state."""
    for node in walk(*(sink.node for sink in plan.sinks)):
        if isinstance(node, TemporalJoin) and not node.allow_unbounded:
            yield Diagnostic(
                codes.VERSIONED_STATE,
                "this join keeps the last version of every key for ever",
                plan.places.get(node.uid),
                cause="a row may ask for it at any time to come",
                fix="if there are only so many keys, say so: WITH (allow_unbounded = true)",
            )
