"""A stream with a small table of the project."""

from __future__ import annotations

from typing import cast

from compiler.analysis.builder import Builder
from compiler.analysis.joins.request import JoinRequest, Rows, prepare
from compiler.diagnostics import codes
from compiler.plan.operators.seed_join import JoinKind


def join_seed(builder: Builder, request: JoinRequest) -> Rows:
    """Joins the left side with a table that does not change while a query runs.

    Raises:
        DiagnosticError: an outer join that keeps the table's rows (HR313), or no condition (HR312).
    """
    if request.kind in ("right", "full"):
        raise request.error(
            codes.OUTER_SEED,
            f"a {request.kind} outer join would keep rows of the table that no row of the stream matches",
            cause="the stream does not end, so a match may always still come",
            fix="write a LEFT JOIN from the stream",
        )
    sides = prepare(builder, request)
    if sides.predicate is None and request.kind != "cross":
        raise request.error(
            codes.STREAM_JOIN,
            f"the join with `{request.name}` has no condition",
            fix="add ON …, or write CROSS JOIN if every pair is meant",
        )
    kind = cast(JoinKind, request.kind)
    node = builder.seed_join(request.left, sides.right, kind, sides.predicate, request.span)
    return node, sides.above(node, semi=kind in ("semi", "anti"))
