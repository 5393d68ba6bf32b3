"""Windows over windows lie over `window_time`; this says where it is lacking, and how it is had.

The end of a window is exclusive. It is an event time, for joins and Top-N of windows, but in a window over it
the minute that ends at 11:00 would count in the hour that begins then.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.analysis.advice import FrontEnd
from compiler.analysis.builder import Builder
from compiler.analysis.lineage import Step, lineage
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.node import Node
from compiler.plan.operators import Aggregate, Boundary, SessionAggregate
from compiler.plan.operators.window import TIME
from compiler.plan.schema import Field

_CAUSES = {
    "start": "rows of a window come after its start, so no watermark moves on that",
    "end": "the end is exclusive: a minute that ends at 11:00 would count in the hour that begins then",
}


def check_no_bound(builder: Builder, node: Node, column: Field, span: Span) -> None:
    """Refuses a window over the start or the end of a window.

    Raises:
        DiagnosticError: it is one (HR302).
    """
    step = _marked(node, column)
    mark = step.field.window if step is not None else None
    # Behind an outer join no column of a side that may be missing is an event time; that is said elsewhere.
    lost = node.is_stream and not column.is_event_time
    if step is None or mark is None or mark.part == "time" or (mark.part == "end" and lost):
        return
    raise DiagnosticError(
        Diagnostic(
            codes.WINDOW_TIME_COLUMN,
            f"`{column.name}` is the {mark.part} of a window, not its time",
            span,
            cause=_CAUSES[mark.part],
            fix=_fix(node, step, builder.written),
        )
    )


def time_of_window(builder: Builder, node: Node) -> str | None:
    """How the time of the window is had whose bounds are columns here; None if there are none."""
    bound = next((field for field in node.schema if field.window is not None), None)
    step = _marked(node, bound) if bound is not None else None
    return _fix(node, step, builder.written) if step is not None else None


def lacks_time(builder: Builder, node: Node, name: str, error: DiagnosticError) -> DiagnosticError:
    """The mistake of an unknown column, with what to do if it is a `window_time` that was not handed on."""
    fix = time_of_window(builder, node) if name.lower() == TIME else None
    return error if fix is None else DiagnosticError(*(replace(d, fix=fix) for d in error.diagnostics))


def _marked(node: Node, column: Field) -> Step | None:
    """Where a column is known to belong to a window. A union of different windows does not know it."""
    steps = (s for s in lineage(node, column.name) if s.field.window is not None)
    first = next(steps, None)
    # One input of a union may give an end where the others give times.
    return next((s for s in (first, *steps) if s and s.field.window and s.field.window.part != "time"), first)


def _fix(node: Node, step: Step, written: FrontEnd) -> str:
    mark = step.field.window
    time = next((f.name for f in node.schema if mark and f.window == replace(mark, part="time")), None)
    if time is not None and time.lower() != TIME:
        return f"use `{time}`, its last millisecond"
    below = [s.node for s in lineage(step.node, step.field.name)]
    group = next((n for n in below if isinstance(n, (Aggregate, SessionAggregate))), None)
    above = [s.node for s in step.way()] + (below[: below.index(group)] if group is not None else below)
    model = next((n.uid for n in reversed(above) if isinstance(n, Boundary)), None)
    where = f"`{model}`" if model else "the query below"
    if group is None:
        return f"select `{TIME} AS rowtime` in {where}, and use `rowtime`"
    if written == "yaml":
        where = where if model else "the aggregate before"
        return f"add `{TIME} AS rowtime` to `by` of {where}, and use `rowtime`"
    return f"add {TIME} to GROUP BY of {where}, `{TIME} AS rowtime` to its SELECT, and use `rowtime`"
