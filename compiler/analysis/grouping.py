"""GROUP BY, HAVING and the aggregates of a SELECT."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.aggregates import rewrite_aggregate
from compiler.analysis.builder import count
from compiler.analysis.places import tree_span
from compiler.analysis.scope import Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.expr import Call, Column, Expr, columns_of, is_aggregate, transform
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax.fragment import Fragment

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Grouped:
    """What SELECT's items read, and the items over it."""

    node: Node
    items: list[SelectItem]


def output_name(tree: exp.Expr, alias: str | None) -> str | None:
    """Name of an output column: its alias, or the last part of a plain column."""
    if alias:
        return alias
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
    keys = _keys(binder, tree, scope, items)
    expressions = [(item.name, item.expr) for item in items]
    if having is not None:
        expressions.append((None, having))
    aggregates = _collect(expressions, {key.name.lower() for key in keys})
    span = _place(binder, tree, items)
    lowered = [NamedExpr(a.name, rewrite_aggregate(a.expr, node.schema)) for a in aggregates]
    aggregate = binder.builder.aggregate(node, keys, lowered, span)
    to_output = _Rewrite(keys, aggregates)
    result: Node = aggregate
    if having is not None:
        condition = to_output(having)
        condition = _checked(condition, span, "HAVING")
        result = binder.builder.filter(aggregate, condition, binder.span(tree.args["having"]))
    rewritten = []
    for item in items:
        expr = _checked(to_output(item.expr), item.span, "SELECT")
        rewritten.append(replace(item, expr=expr))
    return Grouped(result, rewritten)


def check_keys(binder: QueryBinder, tree: exp.Select, scope: Scope) -> None:
    """Binds the keys of a SELECT whose items have mistakes, as far as they are no items themselves.

    Raises:
        DiagnosticError: a key that cannot be right.
    """
    clause = tree.args.get("group")
    names = {item.alias.lower() for item in tree.expressions if isinstance(item, exp.Alias)}
    for part in clause.expressions if clause is not None else ():
        if isinstance(part, exp.Literal) or (isinstance(part, exp.Column) and part.name.lower() in names):
            continue
        _key(binder, part, scope, [])


def _place(binder: QueryBinder, tree: exp.Select, items: list[SelectItem]) -> Span:
    clause = tree.args.get("group")
    if clause is not None and clause.expressions:
        return binder.span(clause)
    having = tree.args.get("having")
    last = binder.span(having if having is not None else tree)
    return next((item.span for item in items if is_aggregate(item.expr)), last)


def _keys(binder: QueryBinder, tree: exp.Select, scope: Scope, items: list[SelectItem]) -> list[NamedExpr]:
    clause = tree.args.get("group")
    if clause is None:
        return []
    for word in ("grouping_sets", "rollup", "cube"):
        if clause.args.get(word):
            clause_name = word.upper().replace("_", " ")
            raise binder.error(codes.NOT_YET_STREAMING, f"{clause_name} is not supported yet", tree)
    if clause.args.get("all"):
        found: list[tuple[str | None, Expr]] = [(i.name, i.expr) for i in items if not is_aggregate(i.expr)]
    else:
        found = [_key(binder, part, scope, items) for part in clause.expressions]
    named: list[NamedExpr] = []
    for name, expr in found:
        if any(key.expr == expr for key in named):
            continue
        named.append(NamedExpr(_free_name(name or "key", {k.name.lower() for k in named}), expr))
    return named


def _key(
    binder: QueryBinder, tree: exp.Expr, scope: Scope, items: list[SelectItem]
) -> tuple[str | None, Expr]:
    if isinstance(tree, (exp.Rollup, exp.Cube, exp.GroupingSets)):
        raise binder.error(
            codes.NOT_YET_STREAMING, f"{type(tree).__name__.upper()} is not supported yet", tree
        )
    if isinstance(tree, exp.Literal) and not tree.args.get("is_string"):
        chosen = _by_ordinal(binder, tree, items)
        return chosen.name, chosen.expr
    if isinstance(tree, exp.Column) and not tree.table:
        # As in Spark: a column of FROM wins, then an alias of SELECT.
        name = tree.name.lower()
        visible = any(c.name.lower() == name for c in scope.columns())
        item = next((i for i in items if i.name and i.name.lower() == name), None)
        if not visible and item is not None:
            if is_aggregate(item.expr):
                message = f"`{tree.name}` is an aggregate and cannot be a key"
                raise binder.error(codes.AGGREGATE_OF_AGGREGATE, message, tree)
            return item.name, item.expr
    expr = binder.expressions(scope, "GROUP BY").bind(tree)
    alias = next((i.name for i in items if i.expr == expr and i.name), None)
    if isinstance(expr, Column):
        return output_name(tree, None) or expr.name, expr
    return alias, expr


def _by_ordinal(binder: QueryBinder, tree: exp.Literal, items: list[SelectItem]) -> SelectItem:
    number = int(tree.this) if str(tree.this).isdigit() else 0
    if not 1 <= number <= len(items):
        message = f"GROUP BY {tree.this} names no column: SELECT has {count(len(items), 'column')}"
        raise binder.error(codes.UNKNOWN_COLUMN, message, tree)
    return items[number - 1]


def split_aggregates(
    keys: list[NamedExpr], values: list[NamedExpr]
) -> tuple[list[NamedExpr], list[NamedExpr] | None]:
    """Takes aggregate calls out of larger expressions.

    Returns:
        The plain aggregate calls, and the items of the projection above them, or None if the calls are all
        there is.

    Raises:
        DiagnosticError: an expression reads a column outside its aggregates (HR214); it has no place here,
            so the caller checks first where it can.
    """
    calls = _collect([(v.name, v.expr) for v in values], {k.name.lower() for k in keys})
    if [call.expr for call in calls] == [value.expr for value in values]:
        return values, None
    to_output = _Rewrite(keys, calls)
    items = [NamedExpr(k.name, _plain(to_output(k.expr))) for k in keys]
    items += [NamedExpr(v.name, _plain(to_output(v.expr))) for v in values]
    return calls, items


def _collect(expressions: list[tuple[str | None, Expr]], taken: set[str]) -> list[NamedExpr]:
    """The distinct aggregate calls of named expressions, each under a name of its own."""
    found: list[NamedExpr] = []

    def visit(expr: Expr, name: str | None) -> None:
        def take(part: Expr) -> Expr | None:
            if isinstance(part, Call) and part.aggregate:
                if not any(part == known.expr for known in found):
                    used = taken | {known.name.lower() for known in found}
                    chosen = name if name and part is expr else part.name
                    found.append(NamedExpr(_free_name(chosen, used), part))
                return part
            return None

        transform(expr, take)

    for name, expr in expressions:
        visit(expr, name)
    return found


def _free_name(wanted: str, taken: set[str]) -> str:
    if wanted.lower() not in taken:
        return wanted
    number = 2
    while f"{wanted}_{number}".lower() in taken:
        number += 1
    return f"{wanted}_{number}"


class _Rewrite:
    """Puts the aggregate's output columns in the place of keys and aggregate calls."""

    def __init__(self, keys: list[NamedExpr], aggregates: list[NamedExpr]) -> None:
        self._columns = [*keys, *aggregates]

    def __call__(self, expr: Expr) -> Expr:
        def change(part: Expr) -> Expr | None:
            for column in self._columns:
                if part == column.expr:
                    return _Output(part.type, part.nullable, column.name)
            return None

        return transform(expr, change)


class _Output(Column):
    """A column of the aggregate; told apart from columns below it while items are checked."""

    __slots__ = ()


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
