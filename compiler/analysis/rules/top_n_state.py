"""A Top-N whose groups time does not close remembers them for ever."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.analysis.advice import keep_all, keep_for, window_keys
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import TopN


def top_n_state(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR306 for a Top-N or deduplication outside of windows, unless a TTL was given.

    It is judged here and not where it is written: a join that keeps versions takes the place of the
    deduplication that it reads.
    """
    for node in walk(*(sink.node for sink in plan.sinks)):
        if not isinstance(node, TopN) or not node.is_stream or node.emit == "closed":
            continue
        if node.state_ttl_ms is not None or node.allow_unbounded:
            continue
        one = "each group's row is" if node.limit == 1 else f"the first {node.limit} rows of each group are"
        place = plan.places.get(node.uid)
        yield Diagnostic(
            codes.UNBOUNDED_STATE,
            f"{one} kept for ever",
            place,
            cause="no key is an event time, so no watermark ever closes a group",
            fix=f"say how long a group is kept, {keep_for(place)} or {keep_all(place)} on the model; "
            f"or {window_keys(place)}",
        )
