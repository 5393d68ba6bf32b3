"""FOR SYSTEM_TIME AS OF: the version of a table at an event time, or its content in processing time."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.diagnostics import codes


def join_as_of(builder: Builder, request: JoinRequest) -> Rows:
    """Joins each row of the left side with what the right side was, or is, at its time.

    Raises:
        DiagnosticError: it has no streaming form.
    """
    del builder
    if request.left.is_stream and request.right.is_stream:
        raise request.error(codes.NOT_YET_STREAMING, "FOR SYSTEM_TIME AS OF is not supported yet")
    raise request.error(
        codes.NOT_YET_STREAMING,
        "FOR SYSTEM_TIME AS OF needs a table that changes",
        fix="remove it: a seed does not change while a query runs",
    )
