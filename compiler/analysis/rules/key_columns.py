"""Columns of primary keys have values that can be compared."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.analysis.distinct import incomparable
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan


def key_columns(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR217 for a key of a sink by which no row can be found."""
    for sink in plan.sinks:
        for name in sink.primary_key:
            field = sink.node.schema.get(name)
            problem = incomparable(field.type) if field is not None else None
            if field is not None and problem is not None:
                yield Diagnostic(
                    codes.SINK_SCHEMA,
                    f"column `{name}`, {field.type}, cannot be in the primary key of `{sink.name}`",
                    sink.places.get("primary_key", sink.span),
                    cause=problem,
                    fix="name columns whose values can be compared",
                )
