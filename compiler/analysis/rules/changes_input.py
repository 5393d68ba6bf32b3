"""Who reads changes must know that they are."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.changelog import Changelog
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import Node, walk
from compiler.plan.operators import SeedJoin


def changes_input(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR345 for an operator that would take each change of a row for a new row."""
    roots = (*(relation.node for relation in plan.relations), *(sink.node for sink in plan.sinks))
    for node in walk(*roots):
        refused = (
            child.changelog
            for index, child in enumerate(node.inputs)
            if not child.changelog.is_append and not node.takes_changes(index)
        )
        changes = next(refused, None)
        if changes is None:
            continue
        yield Diagnostic(
            codes.CHANGES_INPUT,
            f"{_name(node)} cannot read changes",
            plan.places.get(node.uid),
            cause=f"its input is {changes.phrase}: a row may replace or delete an earlier one, and it would "
            "count as one more",
            fix=_fix(node, changes),
        )


def _name(node: Node) -> str:
    if isinstance(node, SeedJoin):
        return f"a {node.join} join"
    return {
        "window": "a window",
        "aggregate": "a window's GROUP BY",
        "distinct": "DISTINCT",
    }.get(node.kind, f"operator `{node.kind}`")


def _fix(node: Node, changes: Changelog) -> str:
    if isinstance(node, SeedJoin):
        return "use an inner or a left join"
    # TO_CHANGELOG takes only changes that tell the truth of what was there before.
    rows = ", or turn the changes into rows with TO_CHANGELOG" if changes.exact else ""
    return f"compute it from the rows before they are grouped{rows}"
