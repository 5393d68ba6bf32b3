"""Windows begin at multiples of their size in UTC, whatever the project's zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Window
from compiler.plan.operators.watermark import format_ms


def window_zone(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR309 for windows whose bounds are not at the same time of day in the project's zone.

    Measured on Spark 4.2: `window(ts, '1 day')` begins at 00:00 UTC in any session zone.
    """
    offsets = _offsets_ms(plan.timezone)
    seen: set[str] = set()
    for sink in plan.sinks:
        for node in walk(sink.node):
            if not isinstance(node, Window) or node.uid in seen:
                continue
            seen.add(node.uid)
            # Aligned if every offset of the zone moves the bounds by whole slides; who gives an offset
            # has said where windows begin.
            if node.offset_ms or all(offset % node.slide_ms == 0 for offset in offsets):
                continue
            yield Diagnostic(
                codes.WINDOW_ZONE,
                f"windows every {format_ms(node.slide_ms)} begin at multiples of it in UTC, "
                f"not in {plan.timezone}",
                plan.places.get(node.uid),
                cause=_cause(plan.timezone, offsets),
                fix=_fix(node, offsets),
            )


def _offsets_ms(zone: str) -> tuple[int, ...]:
    """The zone's offsets from UTC in this decade, milliseconds."""
    found = set()
    for month in range(12 * 10):
        moment = datetime(2020 + month // 12, month % 12 + 1, 15, 12, tzinfo=ZoneInfo(zone))
        offset = moment.utcoffset() or timedelta(0)
        found.add(int(offset.total_seconds()) * 1000)
    return tuple(sorted(found))


def _cause(zone: str, offsets: tuple[int, ...]) -> str:
    offset, *others = offsets
    if others:
        return f"{zone} has daylight saving time, so no fixed offset keeps windows at one time of day"
    return f"{zone} is {format_ms(offset)} from UTC"


def _fix(node: Window, offsets: tuple[int, ...]) -> str | None:
    offset, *others = offsets
    if others:
        return "use windows of an hour or less, or keep it if bounds in UTC are what you want"
    return f"give the window an offset of {format_ms(-offset % node.slide_ms)}"
