"""What nothing reads is likely a mistake."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan


def unused(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR219 (warning) for sources and models that no model and no sink reads."""
    if not plan.sinks:
        return
    for relation in plan.relations:
        if relation.kind != "seed" and relation.name.lower() not in plan.read:
            yield Diagnostic(
                codes.UNUSED,
                f"{relation.kind} `{relation.name}` is read by nothing",
                relation.span,
                fix="add a sink for it, or remove it",
            )
