"""A key that an outer join leaves without a value goes to sinks that have a place for it."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.formats import key_fields, key_format
from compiler.plan.logical import BoundSink, LogicalPlan
from compiler.plan.node import Node
from compiler.plan.operators._stream_join import StreamJoin
from compiler.plan.operators.aggregate import Aggregate
from compiler.plan.operators.change_aggregate import ChangeAggregate
from compiler.plan.operators.project import Project, carried_column


def null_key(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR408 for rows that surely come, and that the sink has no key for."""
    for sink in plan.sinks:
        changes = sink.node.changelog
        if changes.kind != "upsert" or not sink.takes_changes or (why := _needs_values(sink)) is None:
            continue
        column = next((name for name in changes.key if _without_partner(sink.node, name)), None)
        if column is not None:
            yield Diagnostic(
                codes.PRIMARY_KEY,
                f"`{column}` of the primary key of `{sink.name}` is NULL in rows without a partner",
                sink.places.get("primary_key", sink.span),
                cause=f"an outer join gives such rows, and {why}",
                fix=f"leave them out, WHERE {column} IS NOT NULL, or write to delta or to messages whose "
                "key.format is json",
            )


def _needs_values(sink: BoundSink) -> str | None:
    """Why a column of the sink's key cannot be NULL; None if it can."""
    if sink.connector.name == "jdbc":
        return "a primary key of a database has a value in every column"
    options = dict(sink.options)
    if "format" in options and key_fields(options):
        form = key_format(options)
        if form == "raw":
            return "a raw key without a value is no key"
        if form in ("avro", "avro-confluent", "protobuf"):
            return f"columns of the primary key are never NULL in a key of the format {form}"
    return None


def _without_partner(node: Node, column: str) -> bool:
    """Whether a column is NULL in rows that an outer join gives, and nothing since has left those out."""
    field = node.schema.get(column)
    if field is None or not field.nullable:
        return False
    inner: str | None = column
    if isinstance(node, Project):
        inner = next((carried_column(item.expr) for item in node.items if item.name == column), None)
    elif isinstance(node, (Aggregate, ChangeAggregate)):
        inner = next((carried_column(key.expr) for key in node.keys if key.name == column), None)
    elif isinstance(node, StreamJoin):
        of_right = node.left.schema.get(column) is None
        if node.join in ("full", "left" if of_right else "right"):
            return True
    return inner is not None and any(_without_partner(child, inner) for child in node.inputs)
