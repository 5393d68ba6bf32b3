"""From a sink's declaration to a bound sink: its rows, its contract, its promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from compiler.analysis.builder import Builder, cast_to
from compiler.analysis.catalog import Poisoned
from compiler.analysis.typing import widens
from compiler.connectors.resolve import Resolved, resolve
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.plan.expr import Column
from compiler.plan.logical import BoundSink, Delivery
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field
from compiler.syntax import declarations as decl
from compiler.syntax.data_types import parse_type


def bind_sink(
    sink: decl.SinkDecl, bind_body: Callable[[], Node], builder: Builder, reporter: Reporter
) -> BoundSink:
    """Binds a sink; `bind_body` gives the rows that it takes.

    Raises:
        Poisoned: it has mistakes, all of which have been reported, or its rows have.
    """
    found = Reporter()
    resolved: Resolved | None = None
    node: Node | None = None
    try:
        resolved = resolve(sink.name, "sink", sink.options, (), found)
    except DiagnosticError as error:
        found.add(*error.diagnostics)
    try:
        node = bind_body()
        if sink.columns:
            node = _contract(sink, node, builder, found)
    except DiagnosticError as error:
        found.add(*error.diagnostics)
    finally:
        reporter.extend(found.all())
    if resolved is None or node is None or found.has_errors:
        raise Poisoned(sink.name.value)
    keys = _columns(sink.primary_key, node, sink, reporter)
    partitions = _columns(sink.partitioned_by, node, sink, reporter)
    asked = cast("Delivery | None", resolved.common.get("delivery"))
    return BoundSink(
        name=sink.name.value,
        node=node,
        connector=resolved.connector,
        options=tuple(resolved.options.items()),
        delivery=asked or ("exactly_once" if resolved.connector.exactly_once else "at_least_once"),
        asked_delivery=asked,
        primary_key=keys,
        partition_by=partitions,
        span=sink.name.span,
        places={**resolved.places, "primary_key": _place(sink.primary_key, sink)},
    )


def _place(names: tuple[decl.Text, ...], sink: decl.SinkDecl) -> Span:
    return names[0].span.to(names[-1].span) if names else sink.name.span


def _contract(sink: decl.SinkDecl, node: Node, builder: Builder, reporter: Reporter) -> Node:
    """Matches the query's columns with the declared ones, by position as INSERT INTO does.

    Raises:
        DiagnosticError: their number differs (HR217).
    """
    fields = node.schema.fields
    if len(fields) != len(sink.columns):
        raise DiagnosticError(
            Diagnostic(
                codes.SINK_SCHEMA,
                f"sink `{sink.name.value}` declares {len(sink.columns)} columns, its query gives {len(fields)}",
                sink.name.span,
                cause=f"the query gives {', '.join(f.name for f in fields)}",
            )
        )
    items: list[NamedExpr] = []
    for column, field in zip(sink.columns, fields, strict=True):
        if column.type is None:
            items.append(NamedExpr(column.name.value, Column(field.type, field.nullable, field.name)))
            continue
        try:
            items.append(_contract_item(column, field))
        except DiagnosticError as error:
            reporter.add(*error.diagnostics)
    if len(items) != len(fields):
        raise DiagnosticError
    return builder.project(node, items, sink.name.span)


def _contract_item(column: decl.ColumnDecl, field: Field) -> NamedExpr:
    assert column.type is not None
    wanted = parse_type(column.type)
    if not widens(field.type, wanted):
        raise DiagnosticError(
            Diagnostic(
                codes.SINK_SCHEMA,
                f"column `{column.name.value}` is declared {wanted}, the query gives {field.type} (`{field.name}`)",
                column.name.span.to(column.type.span()),
                cause="a value may not fit, and nothing is cut or rounded silently",
                fix=f"declare {field.type}, or write CAST({field.name} AS {wanted}) in the query",
            )
        )
    if column.not_null and field.nullable:
        raise DiagnosticError(
            Diagnostic(
                codes.SINK_SCHEMA,
                f"column `{column.name.value}` is declared NOT NULL, the query may give NULL (`{field.name}`)",
                column.name.span,
                fix=f"filter {field.name} IS NOT NULL, or use coalesce({field.name}, …)",
            )
        )
    return NamedExpr(column.name.value, cast_to(Column(field.type, field.nullable, field.name), wanted))


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
    return tuple(found)
