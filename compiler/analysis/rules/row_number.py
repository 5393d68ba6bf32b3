"""ROW_NUMBER without a filter above is one of OVER, and needs the order of those."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.expr_sql import sort_sql
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Over


def row_number(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR330 for a ROW_NUMBER of a stream that is neither a Top-N nor in the order of an event time."""
    for node in walk(*(sink.node for sink in plan.sinks)):
        if (
            not isinstance(node, Over)
            or not node.is_stream
            or node.row_number is None
            or node.time is not None
        ):
            continue
        order = ", ".join(map(sort_sql, node.order)) or "nothing"
        yield Diagnostic(
            codes.ROW_NUMBER_USE,
            f"rows of a stream cannot be numbered in the order of {order}",
            plan.places.get(node.uid),
            cause="each row that comes could change the numbers of all others",
            fix="keep the first rows: WHERE rn <= 3 in the query around it, or QUALIFY ROW_NUMBER() … <= 3",
        )
