"""A watermark is as slow as the slowest of its inputs."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Scan


def several_inputs(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR311 (warning) for an operator that keeps state over rows of two or more sources."""
    for node in walk(*(sink.node for sink in plan.sinks)):
        if not node.is_stateful:
            continue
        scans = [f"`{scan.uid}`" for scan in walk(node) if isinstance(scan, Scan)]
        if len(scans) > 1:
            yield Diagnostic(
                codes.SEVERAL_INPUTS,
                f"these windows close only as fast as the slowest of {', '.join(scans[:-1])} and {scans[-1]}",
                plan.places.get(node.uid),
                cause="the watermark is the least of those of the inputs, so one source that falls silent "
                "keeps every window open",
                fix="see that each source keeps sending rows, or give each its own aggregate and sink",
            )
