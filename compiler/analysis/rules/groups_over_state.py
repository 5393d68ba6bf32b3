"""Groups that are never closed are the only state of their query."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk


def groups_over_state(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR349 for GROUP BY without a window above another operator with state.

    Spark runs such groups in update mode, in which a query may have one operator with state only.
    """
    roots = (*(relation.node for relation in plan.relations), *(sink.node for sink in plan.sinks))
    for node in walk(*roots):
        # Over changes it is refused in any case (HR345).
        if not node.updates or not all(child.changelog.is_append for child in node.inputs):
            continue
        below = next((other for other in walk(*node.inputs) if other.is_stateful), None)
        if below is None:
            continue
        place = plan.places.get(below.uid)
        yield Diagnostic(
            codes.GROUPS_OVER_STATE,
            f"groups without a window cannot be kept above `{below.uid}`",
            plan.places.get(node.uid),
            cause="they change as rows come, and Spark lets a query with such changes keep no other state",
            fix="group by a window here too, or write the rows below into a sink and read them as a source",
            related=(Label(place, "the other state is here"),) if place is not None else (),
        )
