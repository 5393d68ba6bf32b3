"""From a sink's declaration to a bound sink: its rows, its contract, its promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from compiler.analysis.builder import Builder
from compiler.analysis.catalog import Poisoned
from compiler.analysis.contracts import by_position, exactly, insert_columns
from compiler.analysis.message_parts import Table
from compiler.analysis.messages import message_options
from compiler.analysis.metadata import written_metadata
from compiler.connectors.resolve import Resolved, resolve
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.plan.logical import BoundSink, Delivery
from compiler.plan.node import Node
from compiler.syntax import declarations as decl


def bind_sink(
    sink: decl.SinkDecl,
    bind_body: Callable[[], Node],
    descriptors: Mapping[str, bytes | None],
    builder: Builder,
    reporter: Reporter,
) -> BoundSink:
    """Binds a sink; `bind_body` gives the rows that it takes, `descriptors` are those of the project.

    Raises:
        Poisoned: it has mistakes, all of which have been reported, or its rows have.
    """
    found = Reporter()
    resolved: Resolved | None = None
    node: Node | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    try:
        resolved = resolve(sink.name, "sink", sink.options, (), found)
        metadata = written_metadata(
            sink.columns, resolved.connector, _delivery(resolved) == "exactly_once", found
        )
    except DiagnosticError as error:
        found.add(*error.diagnostics)
    try:
        node = bind_body()
        if sink.insert_columns:
            node = insert_columns(sink.name, sink.columns, sink.insert_columns, node, builder, found)
        elif sink.columns and not sink.by_position:
            node = exactly(sink.columns, node, sink.name, sink.name.span, builder)
        elif sink.columns:
            node = by_position(sink.name, sink.columns, node, builder, found)
    except DiagnosticError as error:
        found.add(*error.diagnostics)
    finally:
        reporter.extend(found.all())
    if resolved is None or node is None or found.has_errors:
        raise Poisoned(sink.name.value)
    keys = _columns(sink.primary_key, node, sink, reporter)
    partitions = _columns(sink.partitioned_by, node, sink, reporter)
    beside = dict(metadata)
    record = [field for field in node.schema if field.name not in beside]
    table = Table(sink.name, "sink", resolved, record, sink.primary_key, tuple(beside), descriptors)
    options = message_options(table, reporter)
    asked = cast("Delivery | None", resolved.common.get("delivery"))
    return BoundSink(
        name=sink.name.value,
        node=node,
        connector=resolved.connector,
        options=tuple(options.items()),
        delivery=_delivery(resolved),
        asked_delivery=asked,
        primary_key=keys,
        partition_by=partitions,
        span=sink.name.span,
        places={
            **resolved.places,
            "primary_key": _place(sink.primary_key, sink),
            "partitioned_by": _place(sink.partitioned_by, sink),
        },
        metadata=metadata,
    )


def _delivery(resolved: Resolved) -> Delivery:
    """What was asked for, or else the best that the connector can do."""
    best: Delivery = "exactly_once" if resolved.connector.exactly_once else "at_least_once"
    return cast("Delivery | None", resolved.common.get("delivery")) or best


def _place(names: tuple[decl.Text, ...], sink: decl.SinkDecl) -> Span:
    return names[0].span.to(names[-1].span) if names else sink.name.span


def _columns(
    names: tuple[decl.Text, ...], node: Node, sink: decl.SinkDecl, reporter: Reporter
) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        field = node.schema.get(name.value)
        if field is None:
            near = suggest(name.value, node.schema.names)
            reporter.add(
                Diagnostic(
                    codes.UNKNOWN_COLUMN,
                    f"sink `{sink.name.value}` has no column `{name.value}`",
                    name.span,
                    cause=f"its columns are {', '.join(node.schema.names)}",
                    fix=f"did you mean `{near}`?" if near else None,
                )
            )
        else:
            found.append(field.name)
    return tuple(dict.fromkeys(found))
