"""Declared columns against the columns that a query gives."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.analysis.builder import Builder, cast_to, count
from compiler.analysis.fits import misfit
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.plan.expr import Column, Expr, Literal
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field
from compiler.plan.types import NULL
from compiler.syntax.data_types import parse_type
from compiler.syntax.declarations import ColumnDecl, Text


def by_position(
    owner: Text, columns: Sequence[ColumnDecl], node: Node, builder: Builder, reporter: Reporter
) -> Node:
    """Gives the query's columns the declared names and types, one after the other.

    Raises:
        DiagnosticError: their number differs, or a value may not fit (HR217).
    """
    fields = node.schema.fields
    if len(fields) != len(columns):
        raise DiagnosticError(
            Diagnostic(
                codes.SINK_SCHEMA,
                f"`{owner.value}` declares {count(len(columns), 'column')}, its query gives {len(fields)}",
                owner.span,
                cause=f"the query gives {', '.join(f.name for f in fields)}",
            )
        )
    return _matched(owner, list(zip(columns, fields, strict=True)), node, builder, reporter)


def insert_columns(
    owner: Text,
    columns: Sequence[ColumnDecl],
    inserted: Sequence[Text],
    node: Node,
    builder: Builder,
    reporter: Reporter,
) -> Node:
    """INSERT INTO t (a, b): the query's columns fill the named ones in order, the others are NULL.

    Raises:
        DiagnosticError: an unknown name, another number of columns, or a value that may not fit.
    """
    fields = node.schema.fields
    if len(fields) != len(inserted):
        raise DiagnosticError(
            Diagnostic(
                codes.SINK_SCHEMA,
                f"INSERT names {count(len(inserted), 'column')}, its query gives {len(fields)}",
                inserted[0].span.to(inserted[-1].span),
            )
        )
    declared = {column.name.value.lower(): column for column in columns}
    given: dict[str, Field] = {}
    for name, field in zip(inserted, fields, strict=True):
        if name.value.lower() not in declared:
            near = suggest(name.value, [c.name.value for c in columns])
            raise DiagnosticError(
                Diagnostic(
                    codes.UNKNOWN_COLUMN,
                    f"`{owner.value}` has no column `{name.value}`",
                    name.span,
                    cause=f"its columns are {', '.join(c.name.value for c in columns)}",
                    fix=f"did you mean `{near}`?" if near else None,
                )
            )
        given[name.value.lower()] = field
    pairs = [(column, given.get(column.name.value.lower())) for column in columns]
    return _matched(owner, pairs, node, builder, reporter)


def by_name(columns: Sequence[ColumnDecl], node: Node, owner: Text) -> None:
    """Checks the columns that a YAML entry describes: each exists, and fits its type if it has one.

    Raises:
        DiagnosticError: all that do not (HR201, HR225).
    """
    problems: list[Diagnostic] = []
    for column in columns:
        field = node.schema.get(column.name.value)
        problems.extend(
            _missing(column, node, owner) if field is None else _problems(column, field, codes.CONTRACT)
        )
    if problems:
        raise DiagnosticError(*problems)


def exactly(columns: Sequence[ColumnDecl], node: Node, owner: Text, place: Span, builder: Builder) -> Node:
    """Gives the declared columns, typed and ordered as they are declared; the query gives no others.

    Args:
        columns: the contract, matched by name.
        node: what the query gives.
        owner: whose contract it is.
        place: where it is asked for.
        builder: makes the conversion.

    Raises:
        DiagnosticError: all that is not as declared (HR201, HR225).
    """
    if not columns:
        raise DiagnosticError(
            Diagnostic(
                codes.CONTRACT,
                f"the contract of `{owner.value}` names no columns",
                place,
                fix=f"list them under `columns:`: {', '.join(f'{f.name}: {f.type}' for f in node.schema)}",
            )
        )
    problems: list[Diagnostic] = []
    pairs: list[tuple[ColumnDecl, Field]] = []
    for column in columns:
        field = node.schema.get(column.name.value)
        if field is None:
            problems.extend(_missing(column, node, owner))
            continue
        pairs.append((column, field))
        problems.extend(_problems(column, field, codes.CONTRACT))
        if column.type is None:
            text = f"column `{column.name.value}` has no type in the contract of `{owner.value}`"
            fix = f"write `{field.name}: {field.type}`"
            problems.append(Diagnostic(codes.CONTRACT, text, column.name.span, fix=fix))
    declared = {column.name.value.lower() for column in columns}
    problems.extend(
        Diagnostic(
            codes.CONTRACT,
            f"`{owner.value}` gives a column `{field.name}` that its contract does not name",
            place,
            fix=f"add `{field.name}: {field.type}` under `columns:`, or leave it out of the query",
        )
        for field in node.schema
        if field.name.lower() not in declared
    )
    if problems:
        raise DiagnosticError(*problems)
    items = [NamedExpr(field.name, _value(column, field)) for column, field in pairs]
    return builder.project(node, items, place)


def _missing(column: ColumnDecl, node: Node, owner: Text) -> list[Diagnostic]:
    near = suggest(column.name.value, node.schema.names)
    return [
        Diagnostic(
            codes.UNKNOWN_COLUMN,
            f"`{owner.value}` has no column `{column.name.value}`",
            column.name.span,
            cause=f"its columns are {', '.join(node.schema.names)}",
            fix=f"did you mean `{near}`?" if near else None,
        )
    ]


def _matched(
    owner: Text,
    pairs: Sequence[tuple[ColumnDecl, Field | None]],
    node: Node,
    builder: Builder,
    reporter: Reporter,
) -> Node:
    problems = [problem for column, field in pairs for problem in _problems(column, field)]
    if problems:
        reporter.add(*problems)
        raise DiagnosticError
    items = [NamedExpr(column.name.value, _value(column, field)) for column, field in pairs]
    return builder.project(node, items, owner.span)


def _value(column: ColumnDecl, field: Field | None) -> Expr:
    wanted = parse_type(column.type) if column.type is not None else None
    if field is None:
        return cast_to(Literal(NULL, True, "NULL"), wanted or NULL)
    expr = Column(field.type, field.nullable, field.name)
    return expr if wanted is None else cast_to(expr, wanted)


def _problems(
    column: ColumnDecl, field: Field | None, code: codes.Code = codes.SINK_SCHEMA
) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    name = column.name.value
    if field is None:
        if column.not_null:
            message = f"column `{name}` is declared NOT NULL, and INSERT gives it no value"
            found.append(Diagnostic(code, message, column.name.span))
        return found
    if column.type is not None:
        try:
            wanted = parse_type(column.type)
        except DiagnosticError as error:
            return list(error.diagnostics)
        reason = misfit(field.type, wanted)
        if reason is not None:
            found.append(
                Diagnostic(
                    code,
                    f"column `{name}` is declared {wanted}, the query gives {field.type} (`{field.name}`)",
                    column.name.span.to(column.type.span()),
                    cause=f"{reason}; nothing is cut or rounded silently",
                    fix="leave out NOT NULL inside of the type"
                    if reason.endswith("may be NULL")
                    else f"declare {field.type}, or write CAST({field.name} AS {wanted}) in the query",
                )
            )
    if column.not_null and field.nullable:
        found.append(
            Diagnostic(
                code,
                f"column `{name}` is declared NOT NULL, the query may give NULL (`{field.name}`)",
                column.name.span,
                fix=f"filter {field.name} IS NOT NULL, or use coalesce({field.name}, …)",
            )
        )
    return found
