"""A watermark is as slow as the slowest of its inputs."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import Node, walk
from compiler.plan.operators import Scan, Watermark
from compiler.plan.operators._stream_join import StreamJoin


def several_inputs(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR311 (warning) for an operator that keeps state over rows of two or more sources."""
    told: dict[int, list[str]] = {}
    for node in walk(*(sink.node for sink in plan.sinks)):
        if not node.heeds_watermark or not node.changelog.is_append:
            continue
        scans = [f"`{scan.uid}`" for scan in walk(node) if isinstance(scan, Scan)]
        if not any(_holds_up(scan, node) for scan in walk(node) if isinstance(scan, Scan)):
            continue
        # What stands above an operator that waits for the same inputs waits with it.
        if len(scans) < 2 or any(told.get(id(below)) == scans for below in walk(*node.inputs)):
            continue
        told[id(node)] = scans
        is_join = isinstance(node, StreamJoin)
        what = "rows of this join are forgotten" if is_join else "these windows close"
        held = "every row in the join's state" if is_join else "every window open"
        yield Diagnostic(
            codes.SEVERAL_INPUTS,
            f"{what} only as fast as the slowest of {', '.join(scans[:-1])} and {scans[-1]}",
            plan.places.get(node.uid),
            cause="the watermark is the least of those of the inputs, so one source that falls silent "
            f"keeps {held}",
            fix="give each source an idle_timeout or see that it keeps sending rows"
            + ("" if is_join else ", or give each its own aggregate and sink"),
        )


def _holds_up(scan: Scan, node: Node) -> bool:
    """Whether a source that falls silent keeps an operator waiting."""
    marks = (mark for mark in walk(node) if isinstance(mark, Watermark))
    return not any(mark.idle_timeout_ms for mark in marks if any(below is scan for below in walk(mark)))
