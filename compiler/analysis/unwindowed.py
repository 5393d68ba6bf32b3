"""GROUP BY and DISTINCT without a window: state that no watermark ever ends."""

from __future__ import annotations

from compiler.analysis.advice import FrontEnd, keep_all, keep_for, window_first
from compiler.analysis.model_options import ModelOptions
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.operators import Aggregate, Distinct
from compiler.plan.schema import Schema


def check_groups_close(node: Aggregate, options: ModelOptions, span: Span, written: FrontEnd) -> None:
    """Looks whether groups close, or may stay open.

    Raises:
        DiagnosticError: they would be kept for ever, which nobody asked for (HR301, HR306).
    """
    if node.event_time_key is not None:
        return
    if options.bounds_state:
        return
    # To forget the one group of a whole stream would make no sense.
    forget = f"forget groups that do not change: {keep_for(span)} on the model; or " if node.keys else ""
    ask = f"{forget}{_grow(span)}, and write the changes to a sink with a primary key"
    times = [f.name for f in node.input.schema if f.is_event_time]
    if not times:
        raise DiagnosticError(
            Diagnostic(
                codes.NO_WATERMARK,
                "the groups of this aggregation never close",
                span,
                cause="no column of the input is an event time, and without a watermark no group closes",
                fix=f"declare WATERMARK FOR in the source, and group by a window over that column; or {ask}",
            )
        )
    raise DiagnosticError(
        Diagnostic(
            codes.UNBOUNDED_STATE,
            "GROUP BY without a window keeps every group for ever"
            if node.keys
            else "an aggregate over the whole stream never ends",
            span,
            cause="no key is an event time, so no watermark ever closes a group"
            if node.keys
            else "without GROUP BY all rows are one group, and a stream has no last row",
            fix=f"{_closing(node.input.schema, written)}; or {ask}",
        )
    )


def _closing(schema: Schema, written: FrontEnd) -> str:
    """How the groups would close."""
    time = next((f.name for f in schema if f.can_be_windowed), None)
    if time is not None:
        return window_first(time, written)
    # All that is left of a window below are its bounds, of which none is a time to window over.
    bounds = ", ".join(f.name for f in schema if f.window is not None)
    return f"group by {bounds} as well, or hand window_time on below and put a window over that"


def check_distinct(node: Distinct, what: str, options: ModelOptions, span: Span) -> None:
    """Looks whether the rows that DISTINCT has seen are forgotten some day, or may be kept.

    Raises:
        DiagnosticError: nobody asked for that (HR306).
    """
    if not node.is_stream or node.event_time is not None:
        return
    if options.bounds_state:
        return
    raise DiagnosticError(
        Diagnostic(
            codes.UNBOUNDED_STATE,
            f"{what} keeps every row for ever",
            span,
            cause="a row seen once must be remembered until the stream ends: no column is an event time",
            fix=("write UNION ALL, which keeps duplicates; or " if what == "UNION" else "")
            + "select an event time or a window's bounds as well; or say how long a row is remembered, "
            f"{keep_for(span)}; or {_grow(span)}",
        )
    )


def _grow(span: Span) -> str:
    return f"let the state grow: {keep_all(span, whole=True)} on the model"
