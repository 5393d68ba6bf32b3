"""GROUP BY and DISTINCT without a window: state that no watermark ever ends."""

from __future__ import annotations

from compiler.analysis.model_options import ModelOptions
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.operators import Aggregate, Distinct

ASK = "let the state grow: WITH (allow_unbounded = true) on the model"
# To forget the one group of a whole stream would make no sense.
_FORGET = "forget groups that do not change: WITH (state_ttl = '1 d') on the model; or "


def check_groups_close(node: Aggregate, options: ModelOptions, span: Span) -> None:
    """Looks whether groups close, or may stay open.

    Raises:
        DiagnosticError: they would be kept for ever, which nobody asked for (HR301, HR306).
    """
    if node.event_time_key is not None:
        return
    if options.bounds_state:
        return
    ask = f"{_FORGET if node.keys else ''}{ASK}, and write the changes to a sink with a primary key"
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
            fix=f"group by a window: FROM TUMBLE(TABLE t, DESCRIPTOR({times[0]}), INTERVAL '5' MINUTES) "
            f"GROUP BY window_start, window_end, …; or {ask}",
        )
    )


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
            f"WITH (state_ttl = '1 d'); or {ASK}",
        )
    )
