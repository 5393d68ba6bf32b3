"""What a MATCH_RECOGNIZE leaves open: how long rows are kept, and where the search goes on."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Match


def match_bounds(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR355 and HR356 (warnings) for a match without AFTER MATCH SKIP, and for one without WITHIN."""
    for node in walk(*(relation.node for relation in plan.relations), *(sink.node for sink in plan.sinks)):
        if not isinstance(node, Match):
            continue
        if not node.skip_given:
            yield Diagnostic(
                codes.MATCH_SKIP_MISSING,
                "AFTER MATCH SKIP is missing: the next match may begin with the next row",
                plan.places.get(node.uid),
                cause="as in Flink, that is SKIP TO NEXT ROW; the standard's default is SKIP PAST LAST ROW",
                fix="write AFTER MATCH SKIP PAST LAST ROW, or TO NEXT ROW",
            )
        if node.within_ms is None and not node.unbounded_allowed:
            yield Diagnostic(
                codes.MATCH_UNBOUNDED,
                "without WITHIN, rows are kept for as long as they may be part of a match",
                plan.places.get(node.uid),
                cause="a match that has begun and never ends is never forgotten",
                fix="write WITHIN INTERVAL '1' HOUR behind PATTERN, or allow_unbounded = true on the model",
            )
