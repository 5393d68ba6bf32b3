"""Two streams without a bound of time."""

from __future__ import annotations

from compiler.analysis.advice import keep_all, keep_for
from compiler.analysis.builder import Builder
from compiler.analysis.joins.interval import event_times
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.stream_sides import StreamSides
from compiler.diagnostics import codes
from compiler.plan.operators import RegularJoin


def regular_join(builder: Builder, request: JoinRequest, streams: StreamSides) -> Rows:
    """The regular join, where its state has been asked for.

    Raises:
        DiagnosticError: nothing bounds its state (HR306).
    """
    if not builder.options.bounds_state:
        raise _unbounded(request, streams)
    node = RegularJoin(
        builder.uid("join", request.span),
        streams.sides.left,
        streams.sides.right,
        streams.kind,
        streams.keys,
        streams.condition(),
        builder.options.state_ttl_ms,
    )
    return node, streams.sides.above(node)


def _unbounded(request: JoinRequest, streams: StreamSides) -> Exception:
    ask = f"give the model {keep_for(request.span)}, or {keep_all(request.span)}"
    lefts, rights = event_times(streams.sides.left), event_times(streams.sides.right)
    fix = ask
    if lefts and rights:
        left, right = streams.sides.shown(lefts[0]), streams.sides.shown(rights[0])
        fix = (
            f"bound the times, for example {right} BETWEEN {left} - INTERVAL '1' HOUR "
            f"AND {left} + INTERVAL '1' HOUR; or {ask}"
        )
    return request.error(
        codes.UNBOUNDED_STATE,
        "this join keeps every row of both streams for ever",
        cause="nothing says when the last partner of a row has come",
        fix=fix,
    )
