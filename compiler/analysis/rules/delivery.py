"""A promise that the connector cannot keep is not given."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.connectors import CONNECTORS
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan


def delivery(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR402 where `delivery = 'exactly_once'` is asked of a sink that only delivers at least once."""
    able = ", ".join(c.name for c in CONNECTORS if c.sink is not None and c.exactly_once)
    for sink in plan.sinks:
        if sink.asked_delivery == "exactly_once" and not sink.connector.exactly_once:
            yield Diagnostic(
                codes.DELIVERY,
                f"connector `{sink.connector.name}` cannot deliver exactly once",
                sink.places.get("delivery", sink.span),
                cause="after a crash it would show rows of the interrupted epoch again",
                fix=f"write to one of {able}, or say delivery = 'at_least_once'",
            )
