"""Declared columns against the columns that a query gives."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.analysis.builder import Builder, cast_to, count
from compiler.analysis.typing import widens
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
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
        DiagnosticError: all that do not (HR201, HR217).
    """
    problems: list[Diagnostic] = []
    for column in columns:
        field = node.schema.get(column.name.value)
        if field is None:
            near = suggest(column.name.value, node.schema.names)
            problems.append(
                Diagnostic(
                    codes.UNKNOWN_COLUMN,
                    f"`{owner.value}` has no column `{column.name.value}`",
                    column.name.span,
                    cause=f"its columns are {', '.join(node.schema.names)}",
                    fix=f"did you mean `{near}`?" if near else None,
                )
            )
        else:
            problems.extend(_problems(column, field))
    if problems:
        raise DiagnosticError(*problems)


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


def _problems(column: ColumnDecl, field: Field | None) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    name = column.name.value
    if field is None:
        if column.not_null:
            message = f"column `{name}` is declared NOT NULL, and INSERT gives it no value"
            found.append(Diagnostic(codes.SINK_SCHEMA, message, column.name.span))
        return found
    if column.type is not None:
        try:
            wanted = parse_type(column.type)
        except DiagnosticError as error:
            return list(error.diagnostics)
        if not widens(field.type, wanted):
            found.append(
                Diagnostic(
                    codes.SINK_SCHEMA,
                    f"column `{name}` is declared {wanted}, the query gives {field.type} (`{field.name}`)",
                    column.name.span.to(column.type.span()),
                    cause="a value may not fit, and nothing is cut or rounded silently",
                    fix=f"declare {field.type}, or write CAST({field.name} AS {wanted}) in the query",
                )
            )
    if column.not_null and field.nullable:
        found.append(
            Diagnostic(
                codes.SINK_SCHEMA,
                f"column `{name}` is declared NOT NULL, the query may give NULL (`{field.name}`)",
                column.name.span,
                fix=f"filter {field.name} IS NOT NULL, or use coalesce({field.name}, …)",
            )
        )
    return found
