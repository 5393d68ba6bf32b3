"""Groups that Spark never closes are the only state of their query."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import Node, walk
from compiler.plan.operators import Normalize


def groups_over_state(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR349 for Spark's own GROUP BY without a window above or below another operator with state.

    Spark runs such groups in update mode, in which a query may have one operator with state only.
    """
    roots = (*(relation.node for relation in plan.relations), *(sink.node for sink in plan.sinks))
    for node in walk(*roots):
        if isinstance(node, Normalize):
            groups = next((other for other in walk(*node.inputs) if other.updates), None)
            if groups is not None:
                yield _refused(plan, node, f"changes of `{groups.uid}` cannot be taken back", groups, _BELOW)
        # Over changes it is refused in any case (HR345).
        elif node.updates and all(child.changelog.is_append for child in node.inputs):
            below = next((other for other in walk(*node.inputs) if other.is_stateful), None)
            if below is not None:
                message = f"groups without a window cannot be kept above `{below.uid}`"
                yield _refused(plan, node, message, below, _ABOVE)


_ABOVE = (
    "group by a window here too; or say how long a group is kept, WITH (state_ttl = '30 d') on the model: "
    "headrace then keeps the groups, beside any other state"
)
_BELOW = (
    "say how long its groups are kept, WITH (state_ttl = '30 d') on their model: headrace then keeps them, "
    "beside any other state; or write them into a sink and read that as a source"
)


def _refused(plan: LogicalPlan, node: Node, message: str, other: Node, fix: str) -> Diagnostic:
    place = plan.places.get(other.uid)
    return Diagnostic(
        codes.GROUPS_OVER_STATE,
        message,
        plan.places.get(node.uid),
        cause="Spark's groups change as rows come, and it lets a query with such changes keep no other state",
        fix=fix,
        related=(Label(place, "the other state is here"),) if place is not None else (),
    )
