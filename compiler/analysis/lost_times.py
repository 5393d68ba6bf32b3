"""Why a column that was an event time, or was made of one, is none any more."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.lineage import Step, lineage
from compiler.diagnostics.diagnostic import Label
from compiler.frozen import frozen
from compiler.plan.expr import Column, Expr, columns_of
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import Node, walk
from compiler.plan.operators import Project, Scan, Union
from compiler.plan.schema import Field
from compiler.plan.types import Timestamp


@frozen(slots=True)
class LostTime:
    """Where an event time ended.

    Args:
        cause, fix: for a diagnostic.
        place: where it is written, if that is known.
    """

    cause: str
    fix: str
    place: Label | None


def lost_time(builder: Builder, node: Node, column: Field) -> LostTime | None:
    """What made something else of an event time; None if it never was one."""
    for step in lineage(node, column.name, lambda field: not field.is_event_time):
        below, field = step.node, step.field
        if isinstance(below, Project):
            expr = next(item.expr for item in below.items if item.name == field.name)
            if not isinstance(expr, Column):
                return None if _in_source(below) else _computed(builder, step, expr)
        above = step.above.node if step.above is not None else None
        if field.is_event_time and above is not None and not isinstance(above, (Project, Union)):
            place = builder.place(above.uid)
            return LostTime(
                f"`{field.name}` is an event time below, but rows leave this long after their time",
                "put windows on the rows before they come there",
                Label(place, "its watermark ends here") if place is not None else None,
            )
    return None


def _in_source(node: Node) -> bool:
    """Whether an operator computes a column of a source, where a WATERMARK can be declared for it."""
    return any(isinstance(scan, Scan) and node.uid.startswith(f"{scan.uid}.") for scan in walk(node))


def _computed(builder: Builder, step: Step, expr: Expr) -> LostTime | None:
    """What to do about a computed value that should be an event time."""
    (below,) = step.node.inputs
    fields = [below.schema.get(name) for name in sorted(columns_of(expr))]
    times = [field.name for field in fields if field is not None and field.is_event_time]
    place = builder.place(step.node.uid)
    label = Label(place, "computed here") if place is not None else None
    if times:
        return LostTime(
            f"it is computed from the event time `{times[0]}`, and no watermark moves on a computed value",
            f"hand `{times[0]}` on as it is, or compute this in the source, with a WATERMARK for it",
            label,
        )
    if any(isinstance(s.node, Union) for s in step.way()):
        return LostTime(
            f"an input of UNION ALL gives {to_sql(expr)} there, and only event times of all inputs make one",
            "give the event time of each input at that place",
            label,
        )
    if not isinstance(expr.type, Timestamp):
        return None
    name = step.field.name
    return LostTime(
        "a window closes when the watermark passes its end, and no watermark moves on a computed value",
        f"compute it in the source, with WATERMARK FOR {name} AS {name} - INTERVAL '10' SECONDS",
        label,
    )
