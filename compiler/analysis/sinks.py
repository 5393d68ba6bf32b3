"""From a sink's declaration to a bound sink: its rows, its contract, its promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from compiler.analysis.builder import Builder
from compiler.analysis.catalog import Poisoned
from compiler.analysis.contracts import by_position, exactly, insert_columns
from compiler.analysis.metadata import refuse_written
from compiler.connectors.resolve import Resolved, resolve
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.jobplan.model import OptionValue
from compiler.plan import types as t
from compiler.plan.logical import BoundSink, Delivery
from compiler.plan.node import Node
from compiler.syntax import declarations as decl


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
        found.extend(refuse_written(sink.columns, sink.name.value, resolved.connector))
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
    options = _with_message_keys(sink, resolved, node, reporter)
    asked = cast("Delivery | None", resolved.common.get("delivery"))
    return BoundSink(
        name=sink.name.value,
        node=node,
        connector=resolved.connector,
        options=tuple(options.items()),
        delivery=asked or ("exactly_once" if resolved.connector.exactly_once else "at_least_once"),
        asked_delivery=asked,
        primary_key=keys,
        partition_by=partitions,
        span=sink.name.span,
        places={**resolved.places, "primary_key": _place(sink.primary_key, sink)},
    )


def _with_message_keys(
    sink: decl.SinkDecl, resolved: Resolved, node: Node, reporter: Reporter
) -> dict[str, OptionValue]:
    """The options, with the columns of a message's key as the query spells them; `raw` has one column."""
    options = dict(resolved.options)
    given = options.get("key.fields")
    keys: tuple[str, ...] = ()
    if given is not None:
        place = resolved.places.get("key.fields", sink.name.span)
        names = tuple(decl.Text(name.strip(), place) for name in str(given).split(";"))
        keys = _columns(names, node, sink, reporter)
        options["key.fields"] = ";".join(keys)
    elif "key.format" in options:
        _raw_or_keys(sink, resolved, "key.format", "key.format needs key.fields", reporter)
    value_types = [field.type for field in node.schema.fields]
    key_types = [field.type for field in node.schema.fields if field.name in keys]
    key_format = options.get("key.format", options.get("format"))
    for option, form, types in (
        ("format", options.get("format"), value_types),
        ("key.fields", key_format if given is not None else None, key_types),
    ):
        if form == "raw" and (len(types) != 1 or types[0] not in (t.STRING, t.BINARY)):
            problem = f"format `raw` of sink `{sink.name.value}` takes one column of type STRING or BINARY"
            _raw_or_keys(sink, resolved, option, problem, reporter)
    return options


def _raw_or_keys(
    sink: decl.SinkDecl, resolved: Resolved, option: str, problem: str, reporter: Reporter
) -> None:
    place = resolved.places.get(option, sink.name.span)
    fix = "name the columns of the key in key.fields, with ; between them, or choose another format"
    reporter.add(Diagnostic(codes.WRONG_VALUE, problem, place, fix=fix))


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
    return tuple(found)
