"""A watermark closes windows and groups; where there are none it does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Watermark


def unused_watermark(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR310 (warning) for the watermark of a source that is read, but by nothing that asks for event time."""
    nodes = list(walk(*(sink.node for sink in plan.sinks)))
    heeded = walk(*(node for node in nodes if node.heeds_watermark))
    # By name: with other options in a hint, a source is read by another operator.
    used = {_source(node) for node in heeded if isinstance(node, Watermark)}
    for node in nodes:
        if isinstance(node, Watermark) and (source := _source(node)) not in used:
            yield Diagnostic(
                codes.UNUSED_WATERMARK,
                f"the watermark of `{source}` has no effect",
                plan.places.get(node.uid),
                cause=f"a watermark closes windows, and nothing that reads `{source}` has any",
                fix=f"group by a window over `{node.column}`, or remove the watermark",
            )


def _source(mark: Watermark) -> str:
    return mark.uid.split(".")[0]
