"""Two tables that change."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from compiler.analysis.advice import keep_all, keep_for
from compiler.analysis.builder import Builder
from compiler.analysis.changelogs import with_before
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.stream_sides import StreamSides, take_apart
from compiler.diagnostics import codes
from compiler.plan.operators import ChangeJoin

OUTER: Final = ("left", "right", "full")


def join_of_changes(builder: Builder, request: JoinRequest) -> Rows:
    """The join of tables as they are now, of which at least one changes.

    Raises:
        DiagnosticError: nothing bounds its state (HR306); no equality (HR312); a semi or anti join, or one of
            windows or spans of time (HR345); an outer join with more than equalities (HR308).
    """
    if not builder.options.bounds_state:
        raise request.error(
            codes.UNBOUNDED_STATE,
            "this join keeps every row of both tables for ever",
            cause="rows of a table that changes may find a partner at any time",
            fix=f"give the model {keep_for(request.span)}, or {keep_all(request.span)}",
        )
    left = with_before(builder, request.left, "a join of changes", request.span)
    # A table that is joined with itself is remembered once.
    same = request.right is request.left
    right = left if same else with_before(builder, request.right, "a join of changes", request.span)
    streams = take_apart(builder, replace(request, left=left, right=right))
    if streams.kind not in ("inner", *OUTER) or streams.windows or request.form is not None:
        what = f"a {streams.kind}" if streams.kind not in ("inner", *OUTER) else "a window or interval"
        raise request.error(
            codes.CHANGES_INPUT,
            f"{what} join cannot read changes",
            cause="a side of it takes rows back, and what was made of them would have to be taken back too",
            fix="write JOIN or LEFT JOIN with equalities",
        )
    return change_join(builder, request, streams)


def change_join(builder: Builder, request: JoinRequest, streams: StreamSides) -> Rows:
    """The join that gives rows that change: of tables that do, or of rows that wait for a partner.

    Raises:
        DiagnosticError: an outer join with more than equalities (HR308).
    """
    condition = streams.condition()
    if streams.kind in OUTER and condition is not None:
        raise request.error(
            codes.NOT_YET_STREAMING,
            f"a {streams.kind} join of tables that change can have equalities only",
            cause="a row has no partner if none is equal, which is known by keys; what else must hold is not",
            fix="filter the table that is joined in a model below, or write an inner join",
        )
    node = ChangeJoin(
        builder.uid("join", request.span),
        streams.sides.left,
        streams.sides.right,
        streams.kind,
        streams.keys,
        condition,
        builder.options.state_ttl_ms,
    )
    return node, streams.sides.above(node)
