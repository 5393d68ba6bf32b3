"""Two streams: within a window, within a span of time, or without either."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.joins.interval import interval_join, missing_bound
from compiler.analysis.joins.regular import regular_join
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.stream_sides import take_apart
from compiler.analysis.joins.window import window_join
from compiler.diagnostics import codes


def join_streams(builder: Builder, request: JoinRequest) -> Rows:
    """Joins two streams.

    Raises:
        DiagnosticError: no equality (HR312), an input that changes (HR345), or what the kind of join wants.
    """
    for side, what in ((request.left, "left"), (request.right, "right")):
        if not side.changelog.is_append:
            raise request.error(
                codes.CHANGES_INPUT,
                f"the {what} side of this join takes rows back",
                cause="what was joined with such a row would have to be taken back too",
                fix="join before the rows are aggregated, or read it with FOR SYSTEM_TIME AS OF",
            )
    streams = take_apart(builder, request)
    if request.form != "interval" and (request.form == "window" or streams.windows):
        return window_join(builder, request, streams)
    found = interval_join(builder, request, streams)
    if found is not None:
        return found
    if streams.kind != "inner" or request.form == "interval":
        raise missing_bound(request, streams)
    return regular_join(builder, request, streams)
