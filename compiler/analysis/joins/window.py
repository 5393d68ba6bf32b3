"""Two streams within the same window."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.joins.predicate import WindowEquality
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.stream_sides import StreamSides
from compiler.diagnostics import codes
from compiler.jobplan.durations import format_ms
from compiler.plan.node import Node, walk
from compiler.plan.operators import Session, SessionAggregate, Window, WindowJoin
from compiler.plan.operators.window_join import WindowBounds
from compiler.plan.schema import Field, WindowPart

Windowed = Window | Session | SessionAggregate


def window_join(builder: Builder, request: JoinRequest, streams: StreamSides) -> Rows:
    """The window join.

    Raises:
        DiagnosticError: an equality is missing, or the windows of the two sides are not the same (HR327).
    """
    left, right = streams.sides.left, streams.sides.right
    windows = streams.windows
    if request.form == "window":
        windows = _implied(request, left, right)
    starts = [w for w in windows if w.part == "start"]
    ends = [w for w in windows if w.part == "end"]
    if not starts or not ends:
        has, lacks = ("window_start", "window_end") if starts else ("window_end", "window_start")
        found = windows[0]
        a, b = (streams.sides.shown(field.name) for field in (found.left, found.right))
        raise request.error(
            codes.WINDOW_JOIN,
            f"ON has {has} but not {lacks}",
            cause="only both together say that two rows lie in the same window",
            fix=f"add to ON: {a.replace(has, lacks)} = {b.replace(has, lacks)}",
        )
    start, end = starts[0], ends[0]
    _check_same(request, left, right, end)
    node = WindowJoin(
        builder.uid("join", request.span),
        left,
        right,
        streams.kind,
        streams.keys,
        streams.condition(),
        WindowBounds(start.left.name, end.left.name),
        WindowBounds(start.right.name, end.right.name),
    )
    return node, streams.sides.above(node, semi=streams.kind in ("semi", "anti"))


def _implied(request: JoinRequest, left: Node, right: Node) -> tuple[WindowEquality, ...]:
    """The equalities that YAML's `window` join stands for."""

    def bound(node: Node, name: str, part: WindowPart) -> Field:
        for field in node.schema:
            if field.window is not None and field.window.part == part:
                return field
        raise request.error(
            codes.WINDOW_JOIN,
            f"{name} has no window",
            cause="rows meet that lie in the same window, so both sides need one",
            fix="add a `window` step before the join, on both sides",
        )

    owner = f"`{request.scope.parts[0].alias or 'the left side'}`"
    parts: tuple[WindowPart, WindowPart] = ("start", "end")
    return tuple(
        WindowEquality(part, bound(left, owner, part), bound(right, f"`{request.name}`", part))
        for part in parts
    )


def _check_same(request: JoinRequest, left: Node, right: Node, end: WindowEquality) -> None:
    for field, what in ((end.left, "left"), (end.right, "right")):
        if not field.is_event_time:
            raise request.error(
                codes.WINDOW_JOIN,
                f"the windows of the {what} side do not close",
                cause=f"`{field.name}` is no event time, so no watermark ever passes the window's end",
                fix="declare WATERMARK FOR in the source, and hand the window's columns on as they are",
            )
    a, b = _window(left, end.left), _window(right, end.right)
    if _shape(a) != _shape(b):
        raise request.error(
            codes.WINDOW_JOIN,
            "the two sides have different windows",
            cause=f"the left side has {_named(a)}, the right side {_named(b)}",
            fix="use the same window function with the same sizes on both sides",
        )


def _window(node: Node, field: Field) -> Windowed | None:
    """The operator that made a window's bound."""
    mark = field.window
    made = (n for n in walk(node) if isinstance(n, (Window, Session, SessionAggregate)))
    return next((n for n in made if mark is not None and n.uid == mark.window), None)


def _shape(window: Windowed | None) -> tuple[object, ...]:
    if isinstance(window, Window):
        return window.shape, window.size_ms, window.slide_ms, window.offset_ms
    return () if window is None else ("session", window.gap_ms)


def _named(window: Windowed | None) -> str:
    if isinstance(window, Window):
        return window.describe()
    return (
        "windows of another origin"
        if window is None
        else f"sessions with a gap of {format_ms(window.gap_ms)}"
    )
