"""IN (SELECT …) and EXISTS (SELECT …) in WHERE: semi and anti joins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.relations import Bound
from compiler.analysis.scope import Part, Scope
from compiler.analysis.subquery_fixes import as_exists
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.plan import types as t
from compiler.plan.expr import Column, Expr, Literal, Op, conjunction
from compiler.plan.node import Node

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

Condition = Callable[[Scope], Expr]

# Clauses of EXISTS's query that a join has no place for.
_MORE = ("joins", "laterals", "group", "having", "qualify", "limit", "offset", "windows", "match", "with_")


def is_subquery(part: exp.Expr) -> bool:
    """Whether a part of WHERE is [NOT] IN (SELECT …) or [NOT] EXISTS (SELECT …)."""
    inner, _ = _without_not(part)
    return isinstance(inner, exp.Exists) or (
        isinstance(inner, exp.In) and inner.args.get("query") is not None
    )


def bind_subquery(binder: QueryBinder, left: Bound, part: exp.Expr) -> Node:
    """Keeps the rows that have a match, or those that have none.

    Raises:
        DiagnosticError: a query that cannot be joined, or a mistake in it.
    """
    inner, negated = _without_not(part)
    bind = _exists if isinstance(inner, exp.Exists) else _in
    return bind(binder, left, inner, negated)


def _without_not(part: exp.Expr) -> tuple[exp.Expr, bool]:
    negated = False
    while isinstance(part, (exp.Not, exp.Paren)):
        negated ^= isinstance(part, exp.Not)
        part = part.this
    return part, negated


def _in(binder: QueryBinder, left: Bound, tree: exp.Expr, negated: bool) -> Node:
    query = tree.args["query"]
    values = tree.this.expressions if isinstance(tree.this, exp.Tuple) else [tree.this]
    table = binder.bind(query.this if isinstance(query, exp.Subquery) else query)
    if len(table.schema) != len(values):
        message = f"the subquery gives {len(table.schema)} columns, and {len(values)} are compared with them"
        raise binder.error(codes.COLUMN_NAMES, message, query)
    expressions = binder.expressions(left.scope, "WHERE")
    bound = [expressions.bind(value) for value in values]

    def condition(scope: Scope) -> Expr:
        columns = [Column(c.field.type, c.field.nullable, c.field.name) for c in scope.parts[-1].columns]
        pairs: list[Expr] = []
        for value, column in zip(bound, columns, strict=True):
            expressions.comparable("IN", value, column, tree.this)
            pairs.append(Op(t.BOOLEAN, value.nullable or column.nullable, "=", (value, column)))
        found = conjunction(pairs)
        if negated and found.nullable:
            # NULL on either side leaves it unknown whether the value is in there, and so takes the row away.
            unknown = Op(t.BOOLEAN, False, "IS NULL", (found,))
            return Op(t.BOOLEAN, False, "OR", (found, unknown))
        return found

    try:
        return _joined(binder, left, table, "subquery", condition, tree, negated)
    except DiagnosticError as error:
        fixes = {
            code: as_exists(binder, left.scope, query, values, negated)
            for code in (codes.JOIN_BOUNDS, codes.STREAM_JOIN)
            if table.is_stream and left.node.is_stream
        }
        wrong = (replace(d, fix=fixes.get(d.code, d.fix)) for d in error.diagnostics)
        raise DiagnosticError(*wrong) from error


def _exists(binder: QueryBinder, left: Bound, tree: exp.Expr, negated: bool) -> Node:
    query = tree.this.this if isinstance(tree.this, (exp.Subquery, exp.Paren)) else tree.this
    from_ = query.args.get("from_") if isinstance(query, exp.Select) else None
    if from_ is None or any(query.args.get(clause) for clause in _MORE):
        message = "EXISTS takes SELECT … FROM one relation WHERE … here"
        fix = "make the inner query a model, and name it in FROM"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
    relation = binder.bind_relation(from_.this)
    where = query.args.get("where")

    def condition(scope: Scope) -> Expr:
        # The names of the inner query win over those around it.
        inner = Scope((scope.parts[-1],), outer=left.scope)
        if where is None:
            return Literal(t.BOOLEAN, False, "TRUE", True)
        return binder.expressions(inner, "WHERE").condition(where.this, "WHERE")

    name = _name(relation.scope.parts[0])
    return _joined(binder, left, relation.node, name, condition, tree, negated)


def _name(part: Part) -> str:
    return part.alias or "subquery"


def _joined(
    binder: QueryBinder,
    left: Bound,
    table: Node,
    name: str,
    condition: Condition,
    tree: exp.Expr,
    negated: bool,
) -> Node:
    from compiler.analysis.joins import JoinRequest, join

    if table.is_stream and not left.node.is_stream:
        message = "a subquery over a stream cannot choose the rows of a table"
        cause = "the stream never ends, so it is never known that no row of it matches"
        raise binder.error(codes.STREAM_JOIN, message, tree, cause=cause)
    node, _ = join(
        binder.builder,
        JoinRequest(
            left=left.node,
            scope=left.scope,
            right=table,
            name=name,
            kind="anti" if negated else "semi",
            condition=condition,
            span=binder.span(tree),
            clause="WHERE of the subquery",
        ),
    )
    return node
