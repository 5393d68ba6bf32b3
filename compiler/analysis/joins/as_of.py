"""FOR SYSTEM_TIME AS OF: the version of a table at an event time, or its content in processing time."""

from __future__ import annotations

from typing import Final, Literal

from compiler.analysis.builder import Builder
from compiler.analysis.joins.lookup import lookup_join
from compiler.analysis.joins.request import JoinRequest, Rows
from compiler.analysis.joins.temporal import temporal_join
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.expr import Call, Column, Expr, is_processing_time
from compiler.plan.schema import Field

_NOW: Final = ("current_timestamp", "localtimestamp", "now")


def join_as_of(builder: Builder, request: JoinRequest) -> Rows:
    """Joins each row of the left side with what the right side was at its time.

    Raises:
        DiagnosticError: the time is no event time (HR328), or the right side no versioned table.
    """
    if not request.left.is_stream or not request.right.is_stream:
        raise request.error(
            codes.NOT_YET_STREAMING,
            "FOR SYSTEM_TIME AS OF needs a table that changes",
            fix="remove it: a seed does not change while a query runs",
        )
    if request.form == "lookup" and request.as_of is None:
        return lookup_join(builder, request)
    time, span = _time(request)
    if time.is_processing_time:
        return lookup_join(builder, request)
    if time.is_event_time:
        return temporal_join(builder, request, time)
    times = [f.name for f in request.left.schema if f.is_event_time]
    raise DiagnosticError(
        Diagnostic(
            codes.TEMPORAL_JOIN,
            f"`{time.name}` is not an event time",
            span,
            cause="a version is found by an event time of the row, once the watermark has passed it",
            fix=f"use the event time `{times[0]}`"
            if times
            else f"declare in the source: WATERMARK FOR {time.name} AS {time.name} - INTERVAL '10' SECONDS",
        )
    )


def _time(request: JoinRequest) -> tuple[Field, Span]:
    """The column of the left side at whose time the right side is read."""
    if request.as_of is None:
        times = [f for f in request.left.schema if f.is_event_time]
        if len(times) != 1:
            raise request.error(
                codes.TEMPORAL_JOIN,
                f"the rows have {'several event times' if times else 'no event time'}",
                cause="a version is found by an event time of the row",
                fix="say which: `as_of: column`" if times else "declare a watermark in their source",
            )
        return times[0], request.span
    bound = request.as_of.time(request.scope)
    field = request.left.schema.get(bound.name) if isinstance(bound, Column) else None
    if field is None:
        raise DiagnosticError(
            Diagnostic(
                codes.TEMPORAL_JOIN,
                "FOR SYSTEM_TIME AS OF takes a column of the left side",
                request.as_of.span,
                cause="a version is found by the time of a row, whose watermark is followed",
                fix=_name_a_time(request, bound),
            )
        )
    return field, request.as_of.span


def _name_a_time(request: JoinRequest, bound: Expr) -> str:
    """Which column to name instead of an expression: for the moment itself one of processing time."""
    if not (is_processing_time(bound) or (isinstance(bound, Call) and bound.name in _NOW)):
        return f"name the row's event time, such as {_column(request, 'is_event_time') or 'o.order_time'}"
    column = _column(request, "is_processing_time")
    if column is not None:
        return f"name the column of processing time: AS OF {column}"
    left = request.scope.parts[0].alias
    return (
        f"declare `proc_time AS PROCTIME()` in the source{f' of `{left}`' if left else ''}, hand it on, "
        f"and write AS OF {f'{left}.' if left else ''}proc_time"
    )


def _column(request: JoinRequest, kind: Literal["is_event_time", "is_processing_time"]) -> str | None:
    found = (
        f"{part.alias}.{column.name}" if part.alias else column.name
        for part in request.scope.parts
        for column in part.columns
        if getattr(column.field, kind)
    )
    return next(found, None)
