"""Two streams: within a window, within a span of time, or without either."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.joins.changes import OUTER, change_join, join_of_changes
from compiler.analysis.joins.interval import interval_join, missing_bound
from compiler.analysis.joins.regular import regular_join
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.stream_sides import take_apart
from compiler.analysis.joins.window import window_join


def join_streams(builder: Builder, request: JoinRequest) -> Rows:
    """Joins two streams.

    Raises:
        DiagnosticError: no equality (HR312), or what the kind of join wants.
    """
    if not (request.left.changelog.is_append and request.right.changelog.is_append):
        return join_of_changes(builder, request)
    streams = take_apart(builder, request)
    if request.form != "interval" and (request.form == "window" or streams.windows):
        return window_join(builder, request, streams)
    found = interval_join(builder, request, streams)
    if found is not None:
        return found
    if streams.kind in OUTER and builder.options.bounds_state and request.form is None:
        # What has no partner yet is given, and taken back: a table that changes.
        return change_join(builder, request, streams)
    if streams.kind != "inner" or request.form == "interval":
        raise missing_bound(request, streams)
    return regular_join(builder, request, streams)
