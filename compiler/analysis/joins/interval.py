"""Two streams within a span of time."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.joins.predicate import TimeBound, tightest
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.stream_sides import StreamSides
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.plan.node import Node
from compiler.plan.operators import IntervalJoin
from compiler.plan.operators.interval_join import Bound


def interval_join(builder: Builder, request: JoinRequest, streams: StreamSides) -> Rows | None:
    """The interval join, or None if no pair of event times is bounded from both sides.

    Raises:
        DiagnosticError: the bounds leave no time between them (HR325).
    """
    for pair in dict.fromkeys((bound.left, bound.right) for bound in streams.bounds):
        bounds = _of_pair(streams, pair)
        earliest = tightest((b.earliest for b in bounds), earliest=True)
        latest = tightest((b.latest for b in bounds), earliest=False)
        if earliest is None or latest is None:
            continue
        _check_not_empty(request, streams, pair, earliest, latest)
        node = IntervalJoin(
            builder.uid("join", request.span),
            streams.sides.left,
            streams.sides.right,
            streams.kind,
            streams.keys,
            streams.condition(bounds),
            *pair,
            earliest,
            latest,
        )
        return node, streams.sides.above(node, semi=streams.kind in ("semi", "anti"))
    return None


def _of_pair(streams: StreamSides, pair: tuple[str, str]) -> tuple[TimeBound, ...]:
    return tuple(bound for bound in streams.bounds if (bound.left, bound.right) == pair)


def _check_not_empty(
    request: JoinRequest, streams: StreamSides, pair: tuple[str, str], earliest: Bound, latest: Bound
) -> None:
    strict = earliest.strict or latest.strict
    if earliest.ms > latest.ms or (earliest.ms == latest.ms and strict):
        left, right = (streams.sides.shown(time) for time in pair)
        raise request.error(
            codes.JOIN_BOUNDS,
            f"no row can match: the bounds of {left} and {right} leave no time between them",
            cause=f"{right} would have to be both {_phrase('>', left, earliest)} "
            f"and {_phrase('<', left, latest)}",
            fix="exchange the bounds, or turn a sign",
        )


def _phrase(op: str, time: str, bound: Bound) -> str:
    return f"{op if bound.strict else f'{op}='} {time}{_shift(bound.ms)}"


def _shift(milliseconds: int) -> str:
    if not milliseconds:
        return ""
    sign, rest = ("+" if milliseconds > 0 else "-"), abs(milliseconds)
    for unit, size in (("DAY", 86_400_000), ("HOUR", 3_600_000), ("MINUTE", 60_000), ("SECOND", 1_000)):
        if rest % size == 0:
            return f" {sign} INTERVAL '{rest // size}' {unit}"
    return f" {sign} INTERVAL '{rest / 1000:.3f}' SECOND"


def missing_bound(request: JoinRequest, streams: StreamSides) -> DiagnosticError:
    """Says which bound between the event times an outer or interval join lacks (HR325)."""
    outer = streams.kind != "inner"
    what = f"a {streams.kind} join of two streams" if outer else "an interval join"
    untimed = _untimed(request, streams)
    if untimed is not None:
        return request.error(
            codes.JOIN_BOUNDS,
            f"{what} needs an event time on both sides, and {untimed} has none",
            cause=_why(outer),
            fix="declare WATERMARK FOR in its source, and hand the column on as it is",
        )
    bound = streams.bounds[0] if streams.bounds else None
    left, right = (streams.sides.shown(name) for name in _pair(streams, bound))
    if bound is None:
        return request.error(
            codes.JOIN_BOUNDS,
            f"{what} needs bounds between {left} and {right}",
            cause=_why(outer),
            fix=f"add to {request.clause}, with spans of your own: "
            f"{right} BETWEEN {left} - INTERVAL '1' HOUR AND {left} + INTERVAL '1' HOUR",
        )
    has_upper = bound.latest is not None
    op, sign, word = (">=", "-", "lower") if has_upper else ("<=", "+", "upper")
    return request.error(
        codes.JOIN_BOUNDS,
        f"{what} needs both bounds between {left} and {right}, and the {word} one is missing",
        cause=_why(outer),
        fix=f"add to {request.clause}, with a span of your own: {right} {op} {left} {sign} INTERVAL '1' HOUR",
    )


def event_times(node: Node) -> list[str]:
    """The event times of a relation that a join can be bounded by."""
    return [f.name for f in node.schema if f.is_event_time]


def _pair(streams: StreamSides, bound: TimeBound | None) -> tuple[str, str]:
    if bound is not None:
        return bound.left, bound.right
    return event_times(streams.sides.left)[0], event_times(streams.sides.right)[0]


def _untimed(request: JoinRequest, streams: StreamSides) -> str | None:
    if not event_times(streams.sides.left):
        return f"`{request.scope.parts[0].alias or 'the left side'}`"
    return None if event_times(streams.sides.right) else f"`{request.name}`"


def _why(outer: bool) -> str:
    if outer:
        return "a row without a partner leaves when none can come any more, which only a bound of time says"
    return "a row is forgotten when no partner can come any more, which only a bound of time says"
