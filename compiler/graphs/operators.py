"""Operators of the plans as operators of the graphs."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.diagnostics.source import Span
from compiler.graphs.model import Column, Operator, Place
from compiler.jobplan import model as job
from compiler.plan.node import Node
from compiler.plan.schema import Schema

INTERNAL = "__headrace_"
"""Begins the names of columns that no user wrote; pictures leave it out."""


def place_of(uid: str, places: Mapping[str, Span]) -> Place | None:
    """Where an operator was written; one that the optimizer made stands where the one it was made of did."""
    uid = job.original(uid)
    while uid not in places:
        if "." not in uid:
            return None
        uid = uid.rpartition(".")[0]
    return place(places[uid])


def place(span: Span) -> Place:
    """A span as a place."""
    return Place(span.file.path, *span.file.position(span.start))


def columns_of(schema: Schema) -> tuple[Column, ...]:
    """The columns of a schema."""
    return tuple(Column(f.name.replace(INTERNAL, ""), f.type.sql, f.nullable, f.watermark_ms) for f in schema)


def part_of(uid: str) -> str:
    """The source or model that an operator belongs to."""
    return job.original(uid).partition(".")[0]


def operator(node: Node, does: str, places: Mapping[str, Span]) -> Operator:
    """An operator of the logical plan."""
    return Operator(
        id=node.uid,
        kind=node.kind,
        does=does.replace(INTERNAL, ""),
        part=part_of(node.uid),
        changelog=str(node.changelog),
        place=place_of(node.uid, places),
        columns=columns_of(node.schema),
    )


def writer(sink: job.Sink, changelog: str, span: Span | None) -> Operator:
    """The writer of a sink."""
    where = job.location(sink.options)
    promises = [sink.delivery.replace("_", " ")]
    if sink.primary_key:
        promises.append(f"key {', '.join(sink.primary_key)}")
    if sink.upsert:
        promises.append("takes changes")
    if sink.partition_by:
        promises.append(f"partitioned by {', '.join(sink.partition_by)}")
    if sink.removed:
        promises = ["removed: writes nothing"]
    return Operator(
        id=f"sink:{sink.uid}",
        kind="sink",
        does=f"{sink.connector}{f' {where}' if where else ''} ({', '.join(promises)})",
        part=sink.uid,
        changelog=changelog,
        place=place(span) if span is not None else None,
        columns=tuple(Column(c.name, c.type, c.nullable) for c in sink.columns),
    )
