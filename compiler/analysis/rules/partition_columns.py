"""Columns whose values are to be folders."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan import types as t
from compiler.plan.logical import BoundSink, LogicalPlan

_IN_FOLDERS = ("delta", "filesystem")


def partition_columns(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR217 for values that name no folder, and for files that would have no column left."""
    for sink in plan.sinks:
        if not sink.partition_by or sink.connector.name not in _IN_FOLDERS:
            continue
        problem = _problem(sink)
        if problem is not None:
            message, cause, fix = problem
            place = sink.places.get("partitioned_by", sink.span)
            yield Diagnostic(codes.SINK_SCHEMA, message, place, cause=cause, fix=fix)


def _problem(sink: BoundSink) -> tuple[str, str, str] | None:
    fields = {field.name: field for field in sink.node.schema}
    for name in sink.partition_by:
        found = fields[name].type
        if not t.is_atomic(found) or found == t.VARIANT:
            return (
                f"sink `{sink.name}` cannot be partitioned by column `{name}`, {found}",
                "the name of a folder holds one plain value",
                f"partition by a part of it, which the query has as a column, or leave `{name}` out",
            )
    if len(set(sink.partition_by)) == len(fields):
        return (
            f"sink `{sink.name}` is partitioned by all of its columns",
            "what the name of a folder says is not in its files, and no column would be left for them",
            "leave a column out of the partitions",
        )
    return None
