"""Which kind of join one is."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.seed import join_seed
from compiler.analysis.joins.streams import join_streams


def join(builder: Builder, request: JoinRequest) -> Rows:
    """Puts a join on the rows so far; both front ends come here.

    Raises:
        DiagnosticError: it has no streaming form, or a mistake.
    """
    if request.as_of is not None or request.form in ("temporal", "lookup"):
        # What few projects use is imported with the first use.
        from compiler.analysis.joins.as_of import join_as_of

        return join_as_of(builder, request)
    if request.left.is_stream and request.right.is_stream:
        return join_streams(builder, request)
    return join_seed(builder, request)
