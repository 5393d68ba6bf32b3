"""From a query's tree to operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from compiler.analysis.builder import Builder
from compiler.analysis.catalog import Catalog, Poisoned, Relation
from compiler.analysis.expressions import ExpressionBinder, tree_span
from compiler.analysis.grouping import Grouped, SelectItem, group, output_name
from compiler.analysis.joins import bind_join
from compiler.analysis.scope import Part, Scope
from compiler.analysis.windows import bind_window_function, window_function
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.plan.expr import Column, is_aggregate
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax.dialect import MARK, Parsed
from compiler.syntax.fragment import Fragment

T = TypeVar("T")

# Clauses of a SELECT that have no streaming form here yet, with the reason and the way out.
_REFUSED: dict[str, tuple[codes.Code, str, str | None, str | None]] = {
    "distinct": (
        codes.UNBOUNDED_STATE,
        "DISTINCT keeps every row for ever",
        "a row seen once must be remembered until the stream ends",
        "group by the columns in a window",
    ),
    "order": (
        codes.STREAM_ORDER,
        "a stream cannot be sorted",
        "ORDER BY would have to wait for the last row",
        "remove it, or sort where the result is read",
    ),
    "limit": (
        codes.STREAM_ORDER,
        "a stream cannot be cut with LIMIT",
        "which rows come first would differ from run to run",
        "remove it, or filter by a condition",
    ),
    "offset": (codes.STREAM_ORDER, "a stream has no OFFSET", "rows have no fixed order", "remove it"),
    "qualify": (codes.NOT_YET_STREAMING, "QUALIFY is not supported yet", None, None),
    "laterals": (codes.NOT_YET_STREAMING, "LATERAL is not supported yet", None, None),
    "pivots": (codes.NOT_YET_STREAMING, "PIVOT has no streaming form", None, "use FILTER (WHERE …)"),
    "windows": (codes.NOT_YET_STREAMING, "WINDOW is not supported yet", None, None),
    "match": (codes.NOT_YET_STREAMING, "MATCH_RECOGNIZE is not supported yet", None, None),
    "cluster": (codes.STREAM_ORDER, "CLUSTER BY has no streaming form", None, "remove it"),
    "sort": (codes.STREAM_ORDER, "SORT BY has no streaming form", None, "remove it"),
    "distribute": (codes.STREAM_ORDER, "DISTRIBUTE BY has no streaming form", None, "remove it"),
    "sample": (
        codes.NONDETERMINISTIC,
        "TABLESAMPLE would give other rows at a replay",
        None,
        "filter by a hash",
    ),
}


@dataclass(frozen=True, slots=True)
class Bound:
    """An operator and the names by which its columns can be reached."""

    node: Node
    scope: Scope


class QueryBinder:
    """Binds one query.

    Args:
        fragment: its text, for places.
        catalog: what names in FROM mean.
        builder: makes the operators.
        reporter: takes the mistakes of a SELECT's items, so that all of them are told.
    """

    def __init__(self, fragment: Fragment, catalog: Catalog, builder: Builder, reporter: Reporter) -> None:
        self.fragment = fragment
        self.catalog = catalog
        self.builder = builder
        self.reporter = reporter

    def span(self, tree: exp.Expr) -> Span:
        """The place of a part of the query."""
        return tree_span(tree, self.fragment)

    def error(
        self,
        code: codes.Code,
        message: str,
        tree: exp.Expr,
        cause: str | None = None,
        fix: str | None = None,
    ) -> DiagnosticError:
        """A diagnostic at a part of the query, ready to be raised."""
        return DiagnosticError(Diagnostic(code, message, self.span(tree), cause=cause, fix=fix))

    def expressions(self, scope: Scope, clause: str, aggregates: bool = False) -> ExpressionBinder:
        """A binder for the expressions of a clause."""
        return ExpressionBinder(scope, self.fragment, clause, aggregates)

    def attempt(self, work: Callable[[], T]) -> T | None:
        """Does a part of the work; its mistakes are reported and None is given."""
        try:
            return work()
        except DiagnosticError as error:
            self.reporter.add(*error.diagnostics)
            return None

    # --- queries -------------------------------------------------------------

    def bind(self, tree: exp.Expr) -> Node:
        """Binds a SELECT, UNION ALL or parenthesised query, with its WITH clause.

        Raises:
            DiagnosticError: a mistake.
            Poisoned: something it needs, or one of its own items, has a mistake that has been told.
        """
        with_ = tree.args.get("with_")
        if with_ is not None:
            return self._bind_with(tree, with_)
        if isinstance(tree, exp.Select):
            return self._bind_select(tree)
        if isinstance(tree, exp.SetOperation):
            return self._bind_union(tree)
        if isinstance(tree, exp.Subquery):
            self._refuse_clauses(tree)
            return self.bind(tree.this)
        raise self.error(codes.UNSUPPORTED_SYNTAX, "this is not a query", tree, fix="begin with SELECT")

    def _bind_with(self, tree: exp.Expr, with_: exp.Expr) -> Node:
        if with_.args.get("recursive"):
            raise self.error(codes.UNSUPPORTED_SYNTAX, "WITH RECURSIVE has no streaming form", with_)
        names = [cte.alias for cte in with_.expressions]
        outer, self.catalog = self.catalog, self.catalog.child(names)
        try:
            for cte in with_.expressions:
                node = self.bind(cte.this)
                self.catalog.add(Relation(cte.alias, "with", node))
            body = tree.copy()
            body.set("with_", None)
            return self.bind(body)
        finally:
            self.catalog = outer

    def _bind_union(self, tree: exp.SetOperation) -> Node:
        parts: list[exp.Expr] = []
        node: exp.Expr = tree
        while isinstance(node, exp.SetOperation):
            self._check_set_operation(node)
            self._refuse_clauses(node)
            parts.append(node.args["expression"])
            node = node.this
        parts.append(node)
        parts.reverse()
        bound = [self.attempt(lambda part=part: self.bind(part)) for part in parts]  # type: ignore[misc]  # bound now
        nodes = [node for node in bound if node is not None]
        if len(nodes) != len(parts):
            raise Poisoned
        return self.builder.union(nodes, [self.span(part) for part in parts], self.span(tree))

    def _check_set_operation(self, node: exp.SetOperation) -> None:
        if not isinstance(node, exp.Union):
            word = type(node).__name__.upper()
            raise self.error(codes.NOT_YET_STREAMING, f"{word} has no streaming form", node)
        if node.args.get("distinct"):
            raise self.error(
                codes.UNBOUNDED_STATE,
                "UNION without ALL keeps every row for ever",
                node.args["expression"],
                cause="it removes duplicates, so every row must be remembered",
                fix="write UNION ALL",
            )

    # --- SELECT --------------------------------------------------------------

    def _refuse_clauses(self, tree: exp.Expr) -> None:
        for clause, (code, message, cause, fix) in _REFUSED.items():
            found = tree.args.get(clause)
            if found:
                place = found[0] if isinstance(found, list) else found
                raise self.error(code, message, place if isinstance(place, exp.Expr) else tree, cause, fix)

    def _bind_select(self, tree: exp.Select) -> Node:
        self.attempt(lambda: self._refuse_clauses(tree))
        from_ = tree.args.get("from_")
        if from_ is None:
            raise self.error(
                codes.UNSUPPORTED_SYNTAX,
                "SELECT without FROM has no rows",
                tree,
                fix="read from a source, a model or a seed",
            )
        bound = self.bind_relation(from_.this)
        for join in tree.args.get("joins") or ():
            bound = bind_join(self, bound, join)
        node = self._where(bound, tree)
        failed = node is None
        node = node or bound.node
        items = self._select_items(tree, bound.scope)
        grouped = self.attempt(lambda: self._grouped(tree, node, bound.scope, items or []))
        if failed or items is None or grouped is None or self._has_refused(tree):
            raise Poisoned
        return self._finish(tree, grouped)

    def _has_refused(self, tree: exp.Select) -> bool:
        return any(tree.args.get(clause) for clause in _REFUSED)

    def _where(self, bound: Bound, tree: exp.Select) -> Node | None:
        where = tree.args.get("where")
        if where is None:
            return bound.node
        binder = self.expressions(bound.scope, "WHERE")
        predicate = self.attempt(lambda: binder.condition(where.this, "WHERE"))
        if predicate is None:
            return None
        return self.builder.filter(bound.node, predicate, self.span(where))

    def _select_items(self, tree: exp.Select, scope: Scope) -> list[SelectItem] | None:
        """All items with stars written out, or None if one of them is wrong."""
        binder = self.expressions(scope, "SELECT", aggregates=True)
        items: list[SelectItem] = []
        complete = True
        for item in tree.expressions:
            found = self.attempt(lambda item=item: self._select_item(item, scope, binder))  # type: ignore[misc]  # bound now
            complete = complete and found is not None
            items.extend(found or ())
        return items if complete else None

    def _select_item(self, tree: exp.Expr, scope: Scope, binder: ExpressionBinder) -> list[SelectItem]:
        star = _star(tree)
        if star is not None:
            return self._star_items(tree, star, scope)
        alias = tree.alias if isinstance(tree, exp.Alias) else None
        inner = tree.this if isinstance(tree, exp.Alias) else tree
        expr = binder.bind(inner)
        return [SelectItem(output_name(inner, alias), expr, self.span(tree))]

    def _star_items(self, tree: exp.Expr, star: exp.Star, scope: Scope) -> list[SelectItem]:
        columns = scope.columns()
        if isinstance(tree, exp.Column) and tree.table:
            part = scope.part(tree.table)
            if part is None:
                raise self.error(codes.UNKNOWN_RELATION, f"FROM has no `{tree.table}`", tree)
            columns = part.columns
        excluded = {e.name.lower() for e in star.args.get("except_") or ()}
        missing = excluded - {c.name.lower() for c in columns}
        if missing:
            raise self.error(codes.UNKNOWN_COLUMN, f"`* EXCEPT` names no column `{min(missing)}`", tree)
        if star.args.get("replace") or star.args.get("rename"):
            raise self.error(codes.UNSUPPORTED_SYNTAX, "`* REPLACE` is not supported", tree)
        span = self.span(tree)
        return [
            SelectItem(c.name, Column(c.field.type, c.field.nullable, c.field.name), span)
            for c in columns
            if c.name.lower() not in excluded
        ]

    def _grouped(self, tree: exp.Select, node: Node, scope: Scope, items: list[SelectItem]) -> Grouped:
        having: exp.Expr | None = tree.args.get("having")
        condition = None
        if having is not None:
            condition = self.expressions(scope, "HAVING", aggregates=True).condition(having.this, "HAVING")
        has_aggregates = any(is_aggregate(item.expr) for item in items)
        if (
            tree.args.get("group") is None
            and not has_aggregates
            and (condition is None or not is_aggregate(condition))
        ):
            if having is not None:
                raise self.error(codes.UNSUPPORTED_SYNTAX, "HAVING needs GROUP BY", having, fix="use WHERE")
            return Grouped(node, items)
        return group(self, tree, node, scope, items, condition)

    def _finish(self, tree: exp.Select, grouped: Grouped) -> Node:
        unnamed = [item for item in grouped.items if item.name is None]
        for item in unnamed:
            self.reporter.add(
                Diagnostic(
                    codes.UNNAMED_COLUMN,
                    f"output column `{item.span.text.strip()}` has no name",
                    item.span,
                    fix=f"add a name: `{item.span.text.strip()} AS …`",
                )
            )
        if unnamed:
            raise Poisoned
        items = [NamedExpr(item.name or "", item.expr) for item in grouped.items]
        select = tree.expressions[0]
        span = self.span(select).to(self.span(tree.expressions[-1]))
        return self.builder.project(grouped.node, items, span)

    # --- FROM ----------------------------------------------------------------

    def bind_relation(self, tree: exp.Expr) -> Bound:
        """Binds an entry of FROM or JOIN: a name, a window function or a subquery.

        Raises:
            DiagnosticError: a mistake.
            Poisoned: the relation has a mistake of its own.
        """
        self._refuse_clauses(tree)
        if isinstance(tree, exp.Subquery):
            node = self.bind(tree.this)
            return Bound(node, Scope.of(node.schema, tree.alias or None))
        call = window_function(tree)
        if call is not None:
            node = bind_window_function(self, call)
            return Bound(node, Scope.of(node.schema, tree.alias or None))
        if not isinstance(tree, exp.Table) or not isinstance(tree.this, exp.Identifier):
            raise self._not_a_relation(tree)
        relation = self.relation(tree)
        return Bound(relation.node, Scope((Part.of(tree.alias or relation.name, relation.node.schema),)))

    def relation(self, tree: exp.Expr) -> Relation:
        """The relation that a name means."""
        if isinstance(tree, (exp.Table, exp.Column)):
            parts = [part.name for part in tree.parts]
            # A name with a schema or group in front of it: the last word names the relation.
            return self.catalog.get(parts[-1], self.span(tree))
        raise self._not_a_relation(tree)

    def _not_a_relation(self, tree: exp.Expr) -> DiagnosticError:
        inner = tree.this if isinstance(tree, exp.Table) else tree
        if isinstance(inner, exp.Anonymous):
            name = str(inner.this).removeprefix(MARK)
            return self.error(
                codes.UNSUPPORTED_SYNTAX,
                f"table function `{name}` is not supported",
                tree,
                fix="window functions are TUMBLE and HOP",
            )
        return self.error(
            codes.UNSUPPORTED_SYNTAX, "this cannot stand in FROM", tree, fix="name a source or model"
        )


def _star(tree: exp.Expr) -> exp.Star | None:
    if isinstance(tree, exp.Star):
        return tree
    if isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star):
        return tree.this
    return None


def references(parsed: Parsed) -> list[tuple[str, Span]]:
    """Names of the relations that a query reads, outside its own WITH clauses."""
    own = {cte.alias.lower() for cte in parsed.tree.find_all(exp.CTE)}
    found: list[tuple[str, Span]] = []
    for table in parsed.tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier):
            tree: exp.Expr | None = table
        else:
            call = window_function(table)
            tree = call.table if call is not None else None
        if isinstance(tree, (exp.Table, exp.Column)):
            name = tree.parts[-1].name
            if name.lower() not in own:
                found.append((name, tree_span(tree, parsed.fragment)))
    return found
