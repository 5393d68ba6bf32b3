"""GROUP BY, HAVING and the aggregates of a SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.aggregates import rewrite_aggregate
from compiler.analysis.group_functions import group_function, group_rows, over_rows
from compiler.analysis.group_keys import GroupKeys, bind_keys, free_name
from compiler.analysis.grouping_sets import expand, grouping
from compiler.analysis.places import tree_span
from compiler.analysis.retractions import takes_rows_back
from compiler.analysis.scope import Scope
from compiler.analysis.session_groups import rows_with_time
from compiler.analysis.table_arguments import function_name
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan.expr import Call, Column, Expr, columns_of, is_aggregate, transform
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Schema
from compiler.syntax.fragment import Fragment

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder
    from compiler.analysis.select import QueryBinder

# Aggregate functions by their place in SQL, that tell of the group and not of its rows.
_OF_THE_GROUP = ("grouping", "grouping_id")


@frozen(slots=True)
class SelectItem:
    """An item of SELECT; `name` is None if the user gave none and none follows from the expression.

    Its place is worked out when a message needs it: most items are never spoken of.
    """

    name: str | None
    expr: Expr
    tree: exp.Expr
    fragment: Fragment

    @property
    def span(self) -> Span:
        """Where it is written."""
        return tree_span(self.tree, self.fragment)


@frozen(slots=True)
class Grouped:
    """What SELECT's items read, and the items over it."""

    node: Node
    items: list[SelectItem]


def output_name(tree: exp.Expr, alias: str | None) -> str | None:
    """Name of an output column: its alias, or the last part of a plain column."""
    if alias:
        return alias
    if isinstance(tree, exp.Anonymous) and function_name(tree) in ("window", "session_window"):
        return function_name(tree)
    if isinstance(tree, (exp.Column, exp.Dot)):
        return tree.name if isinstance(tree, exp.Column) else tree.args["expression"].name
    return None


def group(
    binder: QueryBinder,
    tree: exp.Select,
    node: Node,
    scope: Scope,
    items: list[SelectItem],
    having: Expr | None,
) -> Grouped:
    """Builds the aggregate under a SELECT, and rewrites items and HAVING over its output.

    Raises:
        DiagnosticError: keys or items that do not fit.
    """
    expressions = [(item.name, item.expr) for item in items]
    if having is not None:
        expressions.append((None, having))
    keys = bind_keys(binder, tree, scope, items, [expr for _, expr in expressions])
    groups = build_groups(binder.builder, node, keys, expressions, _place(binder, tree, items))
    result = groups.node
    if having is not None:
        place = binder.span(tree.args["having"])
        result = binder.builder.filter(result, groups.over(having, place, "HAVING"), place)
    return Grouped(
        result, [replace(item, expr=groups.over(item.expr, item.span, "SELECT")) for item in items]
    )


def _place(binder: QueryBinder, tree: exp.Select, items: list[SelectItem]) -> Span:
    clause = tree.args.get("group")
    if clause is not None and clause.expressions:
        return binder.span(clause)
    having = tree.args.get("having")
    last = binder.span(having if having is not None else tree)
    return next((item.span for item in items if is_aggregate(item.expr)), last)


# --- of both front ends -----------------------------------------------------


class Groups:
    """Rows grouped: the operator that gives them, and expressions over it."""

    def __init__(
        self, node: Node, group: GroupKeys, keys: Sequence[Column], aggregates: Sequence[tuple[Expr, Expr]]
    ) -> None:
        self.node = node
        self._group = group
        own = zip((key.expr for key in group.keys), keys, strict=True)
        self._columns = [(expr, _output(value)) for expr, value in (*own, *aggregates)]

    def over(self, expr: Expr, span: Span, clause: str) -> Expr:
        """An expression over the input's columns as one over the groups.

        Args:
            expr: reads keys, and other columns inside aggregate functions.
            span: where it is written.
            clause: what that is called in messages.

        Raises:
            DiagnosticError: it reads what is neither key nor aggregate (HR214), or GROUPING is given what is
                no key (HR320).
        """

        def change(part: Expr) -> Expr | None:
            if isinstance(part, Call) and part.aggregate and part.name in _OF_THE_GROUP:
                found = grouping(part, self._group)
                if found is None:
                    raise _no_key(part, span)
                return _output(found)
            return next((value for known, value in self._columns if part == known), None)

        return _checked(transform(expr, change), span, clause)


def build_groups(
    builder: Builder, node: Node, keys: GroupKeys, expressions: Sequence[tuple[str | None, Expr]], span: Span
) -> Groups:
    """Groups rows by the keys, and computes what aggregates there are in named expressions.

    Raises:
        DiagnosticError: the groups of a stream would never close.
    """
    schema = rows_with_time(node)
    expanded = expand(builder, node, keys, span)
    aggregates = _collect(expressions, {key.name.lower() for key in expanded.keys})
    computed: list[NamedExpr] = aggregates
    values: list[Expr] = [_column(a.expr, a.name) for a in aggregates]
    if not takes_rows_back(expanded.node, expanded.keys, builder.options):
        computed, values = _lowered(aggregates, schema)
    grouped = builder.aggregate(expanded.node, expanded.keys, computed, span)
    of = zip((a.expr for a in aggregates), values, strict=True)
    return Groups(grouped, keys, expanded.of, tuple(of))


def _lowered(aggregates: Sequence[NamedExpr], schema: Schema) -> tuple[list[NamedExpr], list[Expr]]:
    """What a stream can compute of aggregates, and each of them over the columns of that."""
    computed: list[NamedExpr] = []
    values: list[Expr] = []
    for item in aggregates:
        function = group_function(item.expr)
        if function is None:
            computed.append(NamedExpr(item.name, rewrite_aggregate(item.expr, schema)))
            values.append(_column(item.expr, item.name))
            continue
        assert isinstance(item.expr, Call)  # what has a function
        rows = group_rows(item.expr, schema)
        # Functions of the same arguments share the rows.
        known = next((other for other in computed if other.expr == rows), None)
        if known is None:
            known = NamedExpr(item.name, rows)
            computed.append(known)
        values.append(over_rows(function, item.expr, _column(rows, known.name)))
    return computed, values


def _column(expr: Expr, name: str) -> Column:
    return Column(expr.type, expr.nullable, name)


def _collect(expressions: Sequence[tuple[str | None, Expr]], taken: set[str]) -> list[NamedExpr]:
    """The distinct aggregate calls of named expressions, each under a name of its own."""
    found: list[NamedExpr] = []

    def visit(expr: Expr, name: str | None) -> None:
        def take(part: Expr) -> Expr | None:
            if isinstance(part, Call) and part.aggregate:
                if part.name not in _OF_THE_GROUP and not any(part == known.expr for known in found):
                    used = taken | {known.name.lower() for known in found}
                    chosen = name if name and part is expr else part.name
                    found.append(NamedExpr(free_name(chosen, used), part))
                return part
            return None

        transform(expr, take)

    for name, expr in expressions:
        visit(expr, name)
    return found


class _Output(Column):
    """A column of the aggregate; told apart from columns below it while items are checked."""

    __slots__ = ()


def _output(expr: Expr) -> Expr:
    return transform(expr, lambda e: _Output(e.type, e.nullable, e.name) if isinstance(e, Column) else None)


def _no_key(call: Call, span: Span) -> DiagnosticError:
    return DiagnosticError(
        Diagnostic(
            codes.GROUPING_SETS,
            f"an argument of {call.name.upper()} is no key of GROUP BY",
            span,
            cause="it tells whether a row of the result sums over a key",
        )
    )


def _checked(expr: Expr, span: Span, clause: str) -> Expr:
    """The expression over the aggregate's columns, once nothing in it reads a column below."""
    left = _ungrouped(expr)
    if not left:
        return _plain(expr)
    name = min(left)
    raise DiagnosticError(
        Diagnostic(
            codes.NOT_GROUPED,
            f"`{name}` in {clause} is neither a key nor inside an aggregate function",
            span,
            cause="a group has many rows, and which one's value is meant is not said",
            fix=f"add `{name}` to GROUP BY, or write any_value({name})",
        )
    )


def _plain(expr: Expr) -> Expr:
    return transform(expr, lambda e: Column(e.type, e.nullable, e.name) if isinstance(e, _Output) else None)


def _ungrouped(expr: Expr) -> frozenset[str]:
    if isinstance(expr, _Output):
        return frozenset()
    if isinstance(expr, Column):
        return columns_of(expr)
    return frozenset(name for child in expr.children for name in _ungrouped(child))
