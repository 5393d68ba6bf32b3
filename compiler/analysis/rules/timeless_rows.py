"""Rows without an event time may pass only where no operator asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Watermark


def timeless_rows(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR315 for a source that keeps rows without a time, read by an operator with state, which drops them."""
    told: set[str] = set()
    for node in walk(*(sink.node for sink in plan.sinks)):
        if not node.is_stateful:
            continue
        for below in walk(node):
            if isinstance(below, Watermark) and below.on_null == "keep" and below.uid not in told:
                told.add(below.uid)
                place = plan.places.get(node.uid)
                yield Diagnostic(
                    codes.SOURCE_POLICY,
                    f"rows of `{below.source}` without an event time would vanish in `{node.uid}`",
                    plan.places.get(below.uid),
                    cause="the source keeps them, and an operator that goes by time has no place for them",
                    fix="write on_null_time = 'drop' or 'fail', or compute a time for such rows",
                    related=(Label(place, "the operator is here"),) if place is not None else (),
                )
