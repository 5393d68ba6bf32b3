"""Puts windows on a stream, for both front ends: the time column and the sizes are judged here."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.analysis.builder import Builder
from compiler.analysis.lost_times import lost_time
from compiler.analysis.stacked_windows import check_no_bound, time_of_window
from compiler.analysis.zones import fixed_offset_ms
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.jobplan.durations import format_ms
from compiler.plan import types as t
from compiler.plan.expr import Column
from compiler.plan.node import Node, walk
from compiler.plan.operators import Session, Window
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Field, WindowShape

# A row is copied into each of its windows; beyond this many nobody means it.
_MOST_WINDOWS = 100_000
_DAY_MS = 86_400_000


@frozen(slots=True)
class Sizes:
    """How windows lie.

    Args:
        shape: tumble, hop or cumulate.
        size_ms: the length of a window, of the longest for cumulate.
        slide_ms: the distance between the starts of two windows (hop), or between the ends (cumulate);
            the size for tumble.
        offset_ms: how far the starts are moved from midnight in the project's zone; any number. In a zone
            with daylight saving time, windows that are not of whole days are moved from midnight in UTC.
    """

    shape: WindowShape
    size_ms: int
    slide_ms: int
    offset_ms: int = 0


@frozen(slots=True)
class Places:
    """Where a window is written: all of it, its time column, its sizes."""

    whole: Span
    on: Span
    sizes: Span


def assign_window(builder: Builder, node: Node, time_column: Field, sizes: Sizes, places: Places) -> Node:
    """TUMBLE, HOP or CUMULATE.

    Raises:
        DiagnosticError: the column is no event time (HR302), sizes do not fit (HR304), or the window's
            columns would hide the time column (HR208).
    """
    _check_time_column(builder, node, time_column, places.on)
    _check_sizes(sizes, places.sizes)
    node = _without_window_columns(builder, node, (time_column.name,), places.whole)
    offset_ms = fixed_offset_ms(builder.timezone)
    return Window(
        builder.uid("window", places.whole),
        node,
        sizes.shape,
        time_column.name,
        sizes.size_ms,
        sizes.slide_ms,
        # Windows repeat, so an offset of any size or sign stands for one within a period.
        (sizes.offset_ms - (offset_ms or 0)) % period_ms(sizes),
        # Where midnight moves, days are counted on the calendar. Hours cannot be: one is lacking, and one
        # comes twice.
        by_calendar=offset_ms is None and sizes.slide_ms % _DAY_MS == 0,
    )


def assign_session(
    builder: Builder, node: Node, keys: Sequence[Field], time_column: Field, gap_ms: int, places: Places
) -> Node:
    """SESSION, of all rows or of those of each key.

    Raises:
        DiagnosticError: as for `assign_window`.
    """
    _check_time_column(builder, node, time_column, places.on)
    if gap_ms <= 0:
        message = "the gap of a session must be greater than zero"
        raise DiagnosticError(Diagnostic(codes.WINDOW_SIZES, message, places.sizes))
    read = (time_column.name, *(key.name for key in keys))
    node = _without_window_columns(builder, node, read, places.whole)
    names = tuple(dict.fromkeys(key.name for key in keys))
    return Session(builder.uid("session", places.whole), node, names, time_column.name, gap_ms)


def period_ms(sizes: Sizes) -> int:
    """After which time windows begin anew."""
    return sizes.slide_ms if sizes.shape == "hop" else sizes.size_ms


def _without_window_columns(builder: Builder, node: Node, read: Sequence[str], span: Span) -> Node:
    """Lets windows be stacked: the columns of the lower window give way to those of the upper."""
    if not any(node.schema.get(name) for name in (START, END, TIME)):
        return node
    hidden = next((name for name in read if name.lower() in (START, END, TIME)), None)
    if hidden is not None:
        raise DiagnosticError(
            Diagnostic(
                codes.DUPLICATE_COLUMN,
                f"the window's columns would hide `{hidden}`",
                span,
                cause="a window adds window_start, window_end and window_time",
                fix=f"rename it in the model below: `{hidden} AS rowtime`",
            )
        )
    kept = [f for f in node.schema if f.name.lower() not in (START, END, TIME)]
    return builder.project(node, [NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in kept], span)


def _check_time_column(builder: Builder, node: Node, column: Field, span: Span) -> None:
    check_no_bound(builder, node, column, span)
    if column.is_event_time:
        return
    if not node.is_stream:
        if isinstance(column.type, t.Timestamp):
            return
        raise DiagnosticError(
            Diagnostic(
                codes.WINDOW_TIME_COLUMN,
                f"a window lies over a TIMESTAMP, and `{column.name}` is {column.type}",
                span,
                fix=f"compute one in a model below: CAST({column.name} AS TIMESTAMP)"
                if column.type in (t.STRING, t.DATE)
                else None,
            )
        )
    times = [f.name for f in node.schema if f.can_be_windowed]
    lost = lost_time(builder, node, column)
    fix: str | None
    if any(isinstance(below, Session) for below in walk(node)) and TIME not in times:
        fix = "rows leave a session when it is closed: select its window_time, and use that"
    elif times:
        fix = f"use the event time `{times[0]}`"
    elif (fix := time_of_window(builder, node)) is not None:
        pass
    elif lost is not None:
        fix = lost.fix
    elif isinstance(column.type, t.Timestamp):
        fix = f"declare in the source: WATERMARK FOR {column.name} AS {column.name} - INTERVAL '10' SECONDS"
    else:
        fix = "compute a TIMESTAMP column in the source and declare a WATERMARK for it"
    cause = "a window closes when the watermark passes its end; this column has no watermark"
    raise DiagnosticError(
        Diagnostic(
            codes.WINDOW_TIME_COLUMN,
            f"`{column.name}` is not an event time",
            span,
            cause=lost.cause if lost is not None else cause,
            fix=fix,
            related=(lost.place,) if lost is not None and lost.place is not None else (),
        )
    )


def _check_sizes(sizes: Sizes, span: Span) -> None:
    problem = _size_problem(sizes.shape, sizes.size_ms, sizes.slide_ms)
    if problem is not None:
        message, fix = problem
        raise DiagnosticError(Diagnostic(codes.WINDOW_SIZES, message, span, fix=fix))


def _size_problem(shape: WindowShape, size_ms: int, slide_ms: int) -> tuple[str, str | None] | None:
    """What is wrong with the sizes, and what to write."""
    if size_ms <= 0 or slide_ms <= 0:
        return "a window's size must be greater than zero", None
    word = "step" if shape == "cumulate" else "slide"
    size, slide = format_ms(size_ms), format_ms(slide_ms)
    if slide_ms > size_ms:
        order = (
            "windows grow by the step up to the size; CUMULATE takes the step first, then the size"
            if shape == "cumulate"
            else "a window begins at each slide; HOP takes the slide first, then the size"
        )
        return f"the {word} ({slide}) is greater than the size ({size})", order
    if size_ms % slide_ms:
        lower = size_ms // slide_ms * slide_ms
        fix = f"make it {format_ms(lower)} or {format_ms(lower + slide_ms)}, or change the {word}"
        return f"the size ({size}) is no multiple of the {word} ({slide})", fix
    if size_ms // slide_ms > _MOST_WINDOWS:
        count = size_ms // slide_ms
        return f"each row would be in up to {count:,} windows", f"make the {word} longer than {slide}"
    return None
