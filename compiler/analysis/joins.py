"""JOIN: a stream with a small table of the project."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from compiler.analysis.builder import Builder
from compiler.analysis.places import tree_offsets
from compiler.analysis.relations import Bound
from compiler.analysis.scope import Part, Scope, Visible
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan import types as t
from compiler.plan.expr import Column, Expr, Op, conjunction
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.seed_join import JoinKind

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


def bind_join(binder: QueryBinder, left: Bound, join: exp.Join) -> Bound:
    """Joins what FROM has so far with one more relation.

    Raises:
        DiagnosticError: a join that has no streaming form (HR312, HR313), or a mistake in ON.
    """
    kind = _kind(binder, join)
    right = binder.bind_relation(join.this)
    if join.this.args.get("version") is not None and not (left.node.is_stream and right.node.is_stream):
        message = "FOR SYSTEM_TIME AS OF is not supported yet"
        fix = "remove it: a seed does not change while a query runs"
        raise binder.error(codes.NOT_YET_STREAMING, message, join.this, fix=fix)
    _check_alias(binder, left.scope, right.scope.parts[0].alias, join)
    span = binder.span(join)
    name = right.scope.parts[0].alias or "right"
    using = [identifier.name for identifier in join.args.get("using") or ()]

    def condition(scope: Scope) -> Expr | None:
        on = join.args.get("on")
        # sqlglot gives JOIN without a condition ON TRUE.
        if isinstance(on, exp.Boolean) and not _says_on(binder, join):
            return None
        return binder.expressions(scope, "ON").condition(on, "ON") if on is not None else None

    swapped = not left.node.is_stream and right.node.is_stream
    if swapped:
        left, right = right, left
        kind = {"left": "right", "right": "left"}.get(kind, kind)
        name = right.scope.parts[0].alias or "left"
    node, scope = join_seed(
        binder.builder, left.node, left.scope, right.node, name, kind, condition, using, span
    )
    return Bound(node, scope)


def join_seed(
    builder: Builder,
    stream: Node,
    scope: Scope,
    table: Node,
    name: str,
    kind: str,
    condition: Callable[[Scope], Expr | None],
    using: list[str],
    span: Span,
) -> tuple[Node, Scope]:
    """Joins a stream with a table under the name `name`; both front ends come here.

    Args:
        builder: makes the operators.
        stream: the left side.
        scope: names of the left side's columns.
        table: the right side.
        name: alias of the right side.
        kind: inner, left, right, full, semi, anti or cross, seen from the stream.
        condition: gives the bound ON condition over a scope, or None if there is none.
        using: columns that both sides have, instead of a condition.
        span: where the join is written.

    Returns:
        The join and the names that can be seen above it.

    Raises:
        DiagnosticError: HR312, HR313, HR201.
    """
    _check_sides(stream, table, kind, span)
    table, visible = _apart(builder, stream, table, name, span)
    part = Part(name, visible)
    both = Scope((*scope.parts, part))
    if using:
        predicate: Expr | None = conjunction([_using(scope, part, column, span) for column in using])
        hidden = {column.lower() for column in using}
        part = replace(part, columns=tuple(c for c in part.columns if c.name.lower() not in hidden))
    else:
        predicate = condition(both)
    if predicate is None and kind != "cross":
        raise DiagnosticError(
            Diagnostic(
                codes.STREAM_JOIN,
                f"the join with `{name}` has no condition",
                span,
                fix="add ON …, or write CROSS JOIN if every pair is meant",
            )
        )
    node = builder.seed_join(stream, table, cast(JoinKind, kind), predicate, span)
    if kind in ("semi", "anti"):
        return node, scope
    # An outer join makes the right side's columns nullable: take the fields from the join's own schema.
    columns = tuple(Visible(c.name, node.schema.get(c.field.name) or c.field) for c in part.columns)
    return node, Scope((*scope.parts, replace(part, columns=columns)))


_ON = re.compile(r"\s*\)?\s*ON\b", re.IGNORECASE)


def _check_alias(binder: QueryBinder, left: Scope, alias: str | None, join: exp.Join) -> None:
    if alias is not None and left.part(alias) is not None:
        raise binder.error(
            codes.DUPLICATE_NAME,
            f"FROM has `{alias}` twice",
            join.this,
            cause="a column of it could be that of either",
            fix="give each an alias of its own: … AS a JOIN … AS b",
        )


def _says_on(binder: QueryBinder, join: exp.Join) -> bool:
    found = tree_offsets(join.this)
    return found is None or _ON.match(binder.fragment.text, found[1]) is not None


def _kind(binder: QueryBinder, join: exp.Join) -> str:
    side = (join.side or "").lower()
    kind = (join.kind or "").lower()
    if (join.args.get("method") or "").upper() == "NATURAL":
        raise binder.error(
            codes.UNSUPPORTED_SYNTAX, "NATURAL JOIN is not supported", join, fix="name the columns: USING (…)"
        )
    if kind in ("semi", "anti"):
        return kind
    if side in ("left", "right", "full"):
        return side
    if kind in ("", "inner"):
        has_condition = join.args.get("on") is not None or join.args.get("using")
        return "inner" if has_condition or kind == "inner" else "cross"
    if kind == "cross":
        return "cross"
    return "inner" if kind == "inner" else _other(binder, join, kind)


def _other(binder: QueryBinder, join: exp.Join, kind: str) -> str:
    raise binder.error(codes.UNSUPPORTED_SYNTAX, f"{kind.upper()} JOIN is not supported", join)


def _check_sides(stream: Node, table: Node, kind: str, span: Span) -> None:
    if stream.is_stream and table.is_stream:
        raise DiagnosticError(
            Diagnostic(
                codes.STREAM_JOIN,
                "joins of two streams are not supported yet",
                span,
                cause="both sides keep arriving, so rows of both must be remembered",
                fix="join with a seed",
            )
        )
    if kind in ("right", "full"):
        raise DiagnosticError(
            Diagnostic(
                codes.OUTER_SEED,
                f"a {kind} outer join would keep rows of the table that no row of the stream matches",
                span,
                cause="the stream does not end, so a match may always still come",
                fix="write a LEFT JOIN from the stream",
            )
        )


def _apart(
    builder: Builder, stream: Node, table: Node, name: str, span: Span
) -> tuple[Node, tuple[Visible, ...]]:
    """Renames the table's columns that the stream has too; users go on naming them as before."""
    taken = {f.name.lower() for f in stream.schema}
    items: list[NamedExpr] = []
    visible: list[tuple[str, str]] = []
    for field in table.schema:
        new = field.name
        while new.lower() in taken:
            new = f"{name}__{new}"
        taken.add(new.lower())
        items.append(NamedExpr(new, Column(field.type, field.nullable, field.name)))
        visible.append((field.name, new))
    node = builder.project(table, items, span)
    fields = {f.name: f for f in node.schema}
    return node, tuple(Visible(shown, fields[new]) for shown, new in visible)


def _using(scope: Scope, part: Part, name: str, span: Span) -> Expr:
    left = scope.resolve((name,), span)
    right = Scope((part,)).resolve((name,), span)
    if t.common_type(left.type, right.type) is None:
        raise DiagnosticError(
            Diagnostic(
                codes.TYPE_MISMATCH,
                f"`{name}` is {left.type} on one side and {right.type} on the other",
                span,
            )
        )
    return Op(t.BOOLEAN, left.nullable or right.nullable, "=", (left, right))
