"""From a source's declaration to its operators: scan, computed columns, watermark."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from msgspec import structs
from sqlglot import exp

from compiler.analysis.builder import Builder, cast_to, identity
from compiler.analysis.catalog import Poisoned, WithOptions
from compiler.analysis.datagen import datagen_problems
from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.message_parts import Table
from compiler.analysis.messages import message_options
from compiler.analysis.metadata import metadata_keys
from compiler.analysis.policies import Policies, dead_letters, good_records, read_policies
from compiler.analysis.scope import Scope
from compiler.analysis.source_columns import column_problems
from compiler.connectors.resolve import Resolved, resolve
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.jobplan.formats import OPERATION, OPERATION_COLUMN
from compiler.jobplan.model import OptionValue
from compiler.plan import types as t
from compiler.plan.expr import Column, Expr, Literal, Op
from compiler.plan.node import Node
from compiler.plan.operators import FromChangelog, LateRows, Scan, Watermark
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field, Schema
from compiler.syntax import declarations as decl
from compiler.syntax.data_types import parse_type
from compiler.syntax.dialect import parse_expression
from compiler.syntax.durations import parse_duration_ms
from compiler.syntax.fragment import Fragment


@frozen(slots=True)
class BoundSource:
    """A source as others read it.

    Args:
        node: its rows.
        dead_letters: what goes to the sink named `dead_letter_sink`: records that cannot be read, or rows
            that come too late.
    """

    node: Node
    dead_letters: Node | None = None
    dead_letter_sink: str | None = None


def bind_source(
    source: decl.SourceDecl, project: decl.Project, builder: Builder, reporter: Reporter
) -> BoundSource:
    """Binds a source of a project.

    Raises:
        Poisoned: it has mistakes, all of which have been reported.
    """
    found = Reporter()
    resolved: Resolved | None = None
    try:
        resolved = resolve(source.name, "source", source.options, project.config.source_defaults, found)
    except DiagnosticError as error:
        found.add(*error.diagnostics)
    physical = _physical_columns(source, found)
    metadata: tuple[tuple[str, str], ...] = ()
    policies = Policies()
    options: dict[str, OptionValue] = {}
    if resolved is not None:
        metadata = metadata_keys(source.columns, resolved.connector, found)
        found.extend(datagen_problems(source, resolved, physical))
        given = dict(metadata)
        record = [field for field in physical if field.name not in given]
        computed = [column.name.value for column in source.columns if column.expression is not None]
        beside = (*given, *computed)
        table = Table(
            source.name, "source", resolved, record, source.primary_key, beside, project.descriptors
        )
        options = message_options(table, found)
        found.extend(column_problems(source, resolved, record))
        policies = read_policies(source, resolved, project.config.target.trigger_ms, found)
    reporter.extend(found.all())
    if resolved is None or found.has_errors:
        raise Poisoned(source.name.value)
    kinds = resolved.connector.change_formats.get(str(options.get("format")), ())
    if kinds:
        physical = [*physical, Field(OPERATION_COLUMN, t.STRING, nullable=False)]
        metadata = (*metadata, (OPERATION_COLUMN, OPERATION))
    columns = Schema(tuple(physical))
    key = _key_as_spelt(source)
    scan = Scan(
        uid=builder.owner,
        connector=resolved.connector.name,
        options=tuple(options.items()),
        columns=columns,
        metadata=metadata,
        key=key,
        marks_bad_records=policies.tells_bad_records_apart,
    )
    node: Node = scan
    dead: Node | None = None
    if policies.tells_bad_records_apart:
        place = resolved.places.get("on_bad_record", source.name.span)
        node = good_records(scan, columns, builder, place)
        if policies.on_bad_record == "dead_letter" and not policies.late_letters:
            dead = dead_letters(scan, source.name.value, builder, place)
    node = _computed_columns(source, node, builder, reporter)
    if source.watermarks:
        node = _watermark(source, node, builder, policies)
        if policies.late_letters:
            uid = builder.uid("late_rows", resolved.places.get("on_late", source.name.span))
            dead = LateRows(uid, node, source.name.value, scan, policies.on_bad_record == "dead_letter")
    if kinds:
        uid = builder.uid("from_changelog", source.name.span)
        node = FromChangelog(uid, node, key, OPERATION_COLUMN, kinds, skip_unknown=False, truthful=False)
    return BoundSource(node, dead, str(resolved.common["dead_letter"]) if dead is not None else None)


def _key_as_spelt(source: decl.SourceDecl) -> tuple[str, ...]:
    """The primary key as its columns are spelt, each once: the runtime tells names apart by their case."""
    spelt = {column.name.value.lower(): column.name.value for column in source.columns}
    return tuple(dict.fromkeys(spelt.get(n.value.lower(), n.value) for n in source.primary_key))


def other_readings(
    source: decl.SourceDecl,
    project: decl.Project,
    builder: Builder,
    places: dict[str, Span],
    reporter: Reporter,
) -> WithOptions:
    """What reads a source with other options: Flink's OPTIONS hint.

    Readings with the same options are one operator, named by the options, so that they share one read.
    """
    known: dict[str, Node] = {}

    def read(options: tuple[decl.OptionDecl, ...]) -> Node:
        replaced = {_key(option) for option in options}
        kept = tuple(option for option in source.options if _key(option) not in replaced)
        text = repr(sorted((_key(option), option.value.value) for option in options))
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        if name not in known:
            other = Builder(f"{builder.owner}.options_{name}", places)
            places[other.owner] = options[0].key.span if options else source.name.span
            changed = structs.replace(source, options=(*kept, *options))
            known[name] = bind_source(changed, project, other, reporter).node
        return known[name]

    return read


def _key(option: decl.OptionDecl) -> str:
    return option.key.value.lower().replace("-", "_")


def _physical_columns(source: decl.SourceDecl, reporter: Reporter) -> list[Field]:
    fields: list[Field] = []
    seen: dict[str, decl.ColumnDecl] = {}
    for column in source.columns:
        name = column.name.value
        if name.lower() in seen:
            reporter.add(
                Diagnostic(codes.DUPLICATE_COLUMN, f"column `{name}` is declared twice", column.name.span)
            )
            continue
        seen[name.lower()] = column
        if column.expression is None and column.type is not None:
            try:
                fields.append(Field(name, parse_type(column.type), not column.not_null))
            except DiagnosticError as error:
                reporter.add(*error.diagnostics)
    if not source.columns:
        reporter.add(
            Diagnostic(
                codes.MISSING_KEY,
                f"source `{source.name.value}` declares no columns",
                source.name.span,
                cause="a stream's schema must be known before a row is read",
                fix="list its columns and their types",
            )
        )
    return fields


def _computed_columns(source: decl.SourceDecl, node: Node, builder: Builder, reporter: Reporter) -> Node:
    computed = [column for column in source.columns if column.expression is not None]
    if not computed:
        return node
    scope = Scope.of(node.schema, source.name.value)
    values: dict[str, NamedExpr] = {}
    failed = False
    for column in computed:
        assert column.expression is not None
        try:
            expr = _expression(column.expression, scope, "a computed column")
            if column.type is not None:
                expr = cast_to(expr, parse_type(column.type))
            values[column.name.value] = NamedExpr(column.name.value, expr)
        except DiagnosticError as error:
            others = {c.name.value.lower() for c in computed}
            reporter.extend(_computed_from_computed(found, others) for found in error.diagnostics)
            failed = True
    physical = {item.name.lower(): item for item in identity(node.schema)}
    # A column without a type has been told where it was read.
    if failed or any(c.expression is None and c.name.value.lower() not in physical for c in source.columns):
        raise Poisoned(source.name.value)
    items = [values.get(c.name.value) or physical[c.name.value.lower()] for c in source.columns]
    if OPERATION_COLUMN in physical:
        items.append(physical[OPERATION_COLUMN])
    return builder.project(node, items, computed[0].name.span.to(computed[-1].name.span))


def _computed_from_computed(found: Diagnostic, computed: set[str]) -> Diagnostic:
    """Says so where an unknown column is another computed one."""
    name = found.span.text.strip("`").lower() if found.span is not None else ""
    if found.code is not codes.UNKNOWN_COLUMN or name not in computed:
        return found
    return replace(
        found,
        message=f"a computed column cannot read the computed column `{name}`",
        label=None,
        cause="computed columns see only the columns that are read from outside",
        fix="write its expression out",
    )


def _expression(fragment: Fragment, scope: Scope, clause: str) -> Expr:
    return ExpressionBinder(scope, fragment, clause).bind(parse_expression(fragment).tree)


def _watermark(source: decl.SourceDecl, node: Node, builder: Builder, policies: Policies) -> Node:
    first, *others = source.watermarks
    if others:
        raise DiagnosticError(
            Diagnostic(
                codes.WATERMARK_EXPRESSION,
                f"source `{source.name.value}` has two watermarks",
                others[0].span,
                fix="keep one: an event has one event time",
            )
        )
    column = Scope.of(node.schema).resolve((first.column.value,), first.column.span)
    field = node.schema.get(first.column.value)
    assert field is not None
    if not isinstance(column.type, t.Timestamp):
        raise DiagnosticError(
            Diagnostic(
                codes.WATERMARK_EXPRESSION,
                f"the event time `{field.name}` must be a TIMESTAMP, not {column.type}",
                first.column.span,
                fix=_timestamp_hint(field),
            )
        )
    delay = _delay(first, field, Scope.of(node.schema))
    uid = builder.uid("watermark", first.span)
    return Watermark(
        uid=uid,
        input=node,
        column=field.name,
        delay_ms=delay,
        source=builder.owner,
        on_null=policies.on_null_time,
        max_late_rows=policies.max_late_rows,
        idle_timeout_ms=policies.idle_timeout_ms,
    )


def _timestamp_hint(field: Field) -> str:
    if t.is_integral(field.type):
        return f"add a computed column: event_time AS timestamp_millis({field.name})"
    if field.type in (t.STRING, t.DATE):
        return f"add a computed column: event_time AS CAST({field.name} AS TIMESTAMP)"
    return "compute a TIMESTAMP column from it"


def _delay(watermark: decl.WatermarkDecl, field: Field, scope: Scope) -> int:
    if watermark.delay is not None:
        milliseconds = parse_duration_ms(watermark.delay.value)
        if milliseconds is None:
            raise DiagnosticError(
                Diagnostic(
                    codes.WRONG_VALUE,
                    f"the delay `{watermark.delay.value}` is not a duration",
                    watermark.delay.span,
                    fix="write for example `10 seconds`",
                )
            )
        return milliseconds
    if watermark.expression is None:
        return 0
    tree = parse_expression(watermark.expression).tree
    inner = tree.this if isinstance(tree, exp.Paren) else tree
    bound: Expr | None = None
    try:
        bound = _expression(watermark.expression, scope, "WATERMARK")
    except DiagnosticError as error:
        if error.diagnostics[0].code is not codes.TYPE_MISMATCH:
            raise
    delay = _constant_delay(bound, field) if bound is not None else None
    months = isinstance(bound, Op) and any(arg.type == t.YEAR_MONTH for arg in bound.args)
    if delay is None or isinstance(inner, exp.Alias):
        raise DiagnosticError(
            Diagnostic(
                codes.WATERMARK_EXPRESSION,
                f"a watermark is `{field.name}` or `{field.name}` minus a constant",
                watermark.expression.span(),
                cause="the watermark is the greatest event time seen, less a fixed delay"
                + (", and months differ in length" if months else ""),
                fix=f"write {field.name} - INTERVAL '10' SECONDS",
            )
        )
    return delay


def _constant_delay(bound: Expr, field: Field) -> int | None:
    """Milliseconds behind the column, or None if the expression is of another form."""
    match bound:
        case Op(op="-", args=(left, Literal(value=int() as delay))):
            return delay if _is_column(left, field) and delay >= 0 else None
        case _ if _is_column(bound, field):
            return 0
    return None


def _is_column(expr: Expr, field: Field) -> bool:
    return isinstance(expr, Column) and expr.name == field.name
