"""Windows of some hours in a zone whose midnights daylight saving time moves."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.analysis.zones import offsets_ms
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.durations import format_ms
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Window


def window_zone(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR309 for windows whose bounds are not at the same time of day in the project's zone all year.

    In a zone of one offset they have been moved by it, and those of whole days go by the calendar. Measured
    on Spark 4.2: `window(ts, '1 day')` begins at 00:00 UTC in any session zone.
    """
    offsets = offsets_ms(plan.timezone)
    if len(offsets) == 1:
        return
    seen: set[str] = set()
    for sink in plan.sinks:
        for node in walk(sink.node):
            if not isinstance(node, Window) or node.uid in seen:
                continue
            seen.add(node.uid)
            # Aligned if every offset of the zone moves the bounds by whole slides; who gives an offset
            # has said where windows begin.
            if node.by_calendar or node.offset_ms or all(offset % node.period_ms == 0 for offset in offsets):
                continue
            yield Diagnostic(
                codes.WINDOW_ZONE,
                f"windows every {format_ms(node.period_ms)} begin at multiples of it in UTC, "
                f"not in {plan.timezone}",
                plan.places.get(node.uid),
                cause=f"{plan.timezone} has daylight saving time, "
                "so no fixed offset keeps windows at one time of day",
                fix="use windows of whole days or of an hour, or keep it if bounds in UTC are what you want",
            )
