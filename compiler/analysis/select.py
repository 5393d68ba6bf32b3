"""From a query's tree to operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from compiler.analysis.builder import Builder, count
from compiler.analysis.catalog import Catalog, Poisoned, Relation
from compiler.analysis.clauses import (
    distinct_place,
    has_refused,
    makes_columns,
    refused_clauses,
    refused_set_operation,
)
from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.group_keys import check_keys
from compiler.analysis.group_windows import assign_group_window
from compiler.analysis.grouping import Grouped, SelectItem, group
from compiler.analysis.hints import hinted_relation, select_hints
from compiler.analysis.joins import bind_join
from compiler.analysis.laterals import (
    bind_lateral_join,
    bind_lateral_views,
    generators,
    lift_generators,
    takes_apart,
)
from compiler.analysis.over import lift_over, named_windows
from compiler.analysis.places import tree_span
from compiler.analysis.relations import Bound, bind_relation, not_a_relation
from compiler.analysis.scope import Scope
from compiler.analysis.select_items import name_fix, select_items, with_names
from compiler.analysis.where import Where
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label, Reporter
from compiler.diagnostics.source import Span
from compiler.plan.expr import Column, is_aggregate
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax.fragment import Fragment

T = TypeVar("T")

# Binding goes down subqueries by recursion.
_DEEPEST = 50


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
        self.model_options = builder.options
        self.reporter = reporter
        self._depth = 0

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
        return ExpressionBinder(scope, self.fragment, clause, aggregates, self.reporter.add)

    def attempt(self, work: Callable[[], T]) -> T | None:
        """Does a part of the work; its mistakes are reported and None is given."""
        try:
            return work()
        except DiagnosticError as error:
            self.reporter.add(*error.diagnostics)
            return None

    # --- queries -------------------------------------------------------------

    def bind(self, tree: exp.Expr, names: Sequence[str] = ()) -> Node:
        """Binds a SELECT, UNION ALL or parenthesised query, with its WITH clause.

        `names` are given to columns that have none, or one that is taken, where the query's columns are
        matched by position: INSERT INTO t (a, b), WITH t (a, b) AS.

        Raises:
            DiagnosticError: a mistake.
            Poisoned: something it needs, or one of its own items, has a mistake that has been told.
        """
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                message = f"queries inside queries are at most {_DEEPEST} deep"
                raise self.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix="make one of them a model")
            return self._bind(tree, names)
        finally:
            self._depth -= 1

    def _bind(self, tree: exp.Expr, names: Sequence[str]) -> Node:
        with_ = tree.args.get("with_")
        return self._bind_body(tree, names) if with_ is None else self._bind_with(tree, with_, names)

    def _bind_body(self, tree: exp.Expr, names: Sequence[str]) -> Node:
        """A query whose WITH clause has been seen to."""
        if isinstance(tree, exp.Select):
            with select_hints(self, tree):
                return self._bind_select(tree, names)
        if isinstance(tree, exp.SetOperation):
            return self._bind_union(tree, names)
        if isinstance(tree, exp.Subquery):
            self._refuse_clauses(tree)
            return self.bind(tree.this, names)
        raise self.error(codes.UNSUPPORTED_SYNTAX, "this is not a query", tree, fix="begin with SELECT")

    def _bind_with(self, tree: exp.Expr, with_: exp.Expr, names: Sequence[str]) -> Node:
        if with_.args.get("recursive"):
            raise self.error(codes.UNSUPPORTED_SYNTAX, "WITH RECURSIVE has no streaming form", with_)
        outer, self.catalog = self.catalog, self.catalog.child()
        first: dict[str, exp.Expr] = {}
        try:
            for cte in with_.expressions:
                alias = cte.args["alias"]
                other = first.setdefault(cte.alias.lower(), alias)
                if other is not alias:
                    self.reporter.add(self._twice(cte.alias, alias, other))
                    raise Poisoned
                # Until it is bound, its name is that of a relation outside: WITH orders AS (… FROM orders).
                node = self.named(cte.this, alias)
                self.catalog.add(Relation(cte.alias, "with", node))
            return self._bind_body(tree, names)
        finally:
            self.catalog = outer

    def named(self, query: exp.Expr, alias: exp.Expr | None) -> Node:
        """A query under an alias, which may name its columns."""
        columns: list[exp.Expr] = alias.args.get("columns") or [] if alias is not None else []
        return self.renamed(self.bind(query, [column.name for column in columns]), alias)

    def renamed(self, node: Node, alias: exp.Expr | None) -> Node:
        """Columns under the names of `t (a, b)`.

        Raises:
            DiagnosticError: another number of names than of columns (HR223).
        """
        names: list[exp.Expr] = alias.args.get("columns") or [] if alias is not None else []
        if alias is None or not names:
            return node
        fields = node.schema.fields
        if len(names) != len(fields):
            message = f"`{alias.name}` names {count(len(names), 'column')}, its query gives {len(fields)}"
            cause = f"the columns are {', '.join(node.schema.names)}"
            raise self.error(codes.COLUMN_NAMES, message, alias, cause=cause)
        items = [
            NamedExpr(name.name, Column(f.type, f.nullable, f.name))
            for name, f in zip(names, fields, strict=True)
        ]
        return self.builder.project(node, items, self.span(alias), lambda index: self.span(names[index]))

    def _twice(self, name: str, second: exp.Expr, first: exp.Expr) -> Diagnostic:
        return Diagnostic(
            codes.DUPLICATE_NAME,
            f"`{name}` is defined twice in this WITH",
            self.span(second),
            fix="rename one of the two",
            related=(Label(self.span(first), "first defined here"),),
        )

    def _bind_union(self, tree: exp.SetOperation, names: Sequence[str]) -> Node:
        parts: list[exp.Expr] = []
        node: exp.Expr = tree
        distinct = bool(tree.args.get("distinct"))
        # Duplicates that are removed at the end need not be removed in between.
        while isinstance(node, exp.SetOperation) and (distinct or not node.args.get("distinct")):
            self._check_set_operation(node)
            self._refuse_clauses(node)
            parts.append(node.args["expression"])
            node = node.this
        parts.append(node)
        parts.reverse()
        first = self.attempt(lambda: self.bind(parts[0], names))
        # The others are matched by position, so their computed columns need no names of their own.
        given = names or (first.schema.names if first is not None else ())
        rest = [self.attempt(lambda part=part: self.bind(part, given)) for part in parts[1:]]  # type: ignore[misc]  # bound now
        bound = [first, *rest]
        nodes = [node for node in bound if node is not None]
        if len(nodes) != len(parts):
            raise Poisoned

        def place(part: int, index: int) -> Span:
            items = parts[part].args.get("expressions") or ()
            # What a star gives is written nowhere.
            named = len(items) == len(nodes[part].schema) and not any(item.is_star for item in items)
            return self.span(items[index] if named else parts[part])

        united = self.builder.union(nodes, [self.span(part) for part in parts], self.span(tree), place)
        return self.builder.distinct(united, self.span(tree), "UNION") if distinct else united

    def _check_set_operation(self, node: exp.SetOperation) -> None:
        if not isinstance(node, exp.Union):
            raise DiagnosticError(refused_set_operation(node, self.fragment))

    # --- SELECT --------------------------------------------------------------

    def _refuse_clauses(self, tree: exp.Expr) -> None:
        found = refused_clauses(tree, self.fragment)
        if found:
            raise DiagnosticError(*found)

    def _bind_select(self, tree: exp.Select, names: Sequence[str]) -> Node:
        self.attempt(lambda: self._refuse_clauses(tree))
        if makes_columns(tree):
            raise Poisoned
        from_ = tree.args.get("from_")
        if from_ is None:
            raise self.error(
                codes.UNSUPPORTED_SYNTAX,
                "SELECT without FROM has no rows",
                tree,
                fix="read from a source, a model or a seed",
            )
        bound = self.bind_relation(from_.this)
        where = Where(self, tree)
        for join in tree.args.get("joins") or ():
            lateral = takes_apart(join.this)
            bound = bind_lateral_join(self, bound, join) if lateral else bind_join(self, bound, join, where)
        bound = bind_lateral_views(self, bound, tree)
        filtered = where.filter(bound)
        generated = self.attempt(lambda: lift_generators(self, tree, filtered or bound.node, bound.scope))
        failed = filtered is None or generated is None
        node, made = generated or (bound.node, generators(tree))
        node, scope = assign_group_window(self, tree, node, bound.scope)
        items = select_items(self, tree, scope, made)
        qualify = self.attempt(lambda: self._qualify(tree, scope))
        failed = failed or qualify is None
        items = [*items, *(qualify or ())] if items is not None else None
        grouped = self.attempt(lambda: self._grouped(tree, node, scope, items))
        if failed or items is None or grouped is None or has_refused(tree):
            raise Poisoned
        return self._finish(tree, self._over(tree, grouped), names)

    def _qualify(self, tree: exp.Select, scope: Scope) -> list[SelectItem]:
        """QUALIFY as an item behind those of SELECT, since it reads what they read."""
        qualify: exp.Expr | None = tree.args.get("qualify")
        if qualify is None:
            return []
        binder = self.expressions(scope, "QUALIFY", aggregates=True)
        binder.windows = named_windows(tree)
        condition = binder.condition(_without_aliases(qualify, tree, scope).this, "QUALIFY")
        return [SelectItem("", condition, qualify, self.fragment)]

    def _over(self, tree: exp.Select, grouped: Grouped) -> Grouped:
        node, items = lift_over(self.builder, grouped.node, grouped.items)
        if tree.args.get("qualify") is not None:
            *items, condition = items
            node = self.builder.filter(node, condition.expr, condition.span)
        return Grouped(node, items)

    def _grouped(
        self, tree: exp.Select, node: Node, scope: Scope, items: list[SelectItem] | None
    ) -> Grouped | None:
        having: exp.Expr | None = tree.args.get("having")
        condition = None
        if having is not None:
            having = _without_aliases(having, tree, scope)
            condition = self.expressions(scope, "HAVING", aggregates=True).condition(having.this, "HAVING")
        if items is None:
            # What is wrong in SELECT is told; keys that do not lean on it can still be judged.
            check_keys(self, tree, scope)
            return None
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

    def _finish(self, tree: exp.Select, grouped: Grouped, names: Sequence[str]) -> Node:
        grouped = replace(grouped, items=with_names(grouped.items, names))
        unnamed = [item for item in grouped.items if item.name is None]
        for item in unnamed:
            self.reporter.add(
                Diagnostic(
                    codes.UNNAMED_COLUMN,
                    f"output column `{item.span.text.strip()}` has no name",
                    item.span,
                    fix=name_fix(item.span.text.strip()),
                )
            )
        if unnamed:
            raise Poisoned
        items = [NamedExpr(item.name or "", item.expr) for item in grouped.items]
        select = tree.expressions[0]
        span = self.span(select).to(self.span(tree.expressions[-1]))
        rows = self.builder.project(grouped.node, items, span, lambda index: grouped.items[index].span)
        return self._distinct(rows, tree)

    def _distinct(self, node: Node, tree: exp.Select) -> Node:
        distinct = tree.args.get("distinct")
        if distinct is None:
            return node
        if distinct.args.get("on"):
            message = "DISTINCT ON has no streaming form"
            fix = "keep the first row of each key with ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) = 1"
            raise self.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
        return self.builder.distinct(node, distinct_place(tree, self.fragment) or self.span(tree))

    # --- FROM ----------------------------------------------------------------

    def bind_relation(self, tree: exp.Expr) -> Bound:
        """Binds an entry of FROM or JOIN: a name, a table function or a subquery.

        Raises:
            DiagnosticError: a mistake.
            Poisoned: the relation has a mistake of its own.
        """
        self._refuse_clauses(tree)
        return bind_relation(self, tree)

    def relation(self, tree: exp.Expr) -> Relation:
        """The relation that a name means."""
        if isinstance(tree, (exp.Table, exp.Column)):
            parts = [part.name for part in tree.parts]
            # A name with a schema or group in front of it: the last word names the relation.
            return hinted_relation(self, self.catalog.get(parts[-1], self.span(tree)), tree)
        raise not_a_relation(self, tree)


def _without_aliases(having: exp.Expr, tree: exp.Select, scope: Scope) -> exp.Expr:
    """HAVING with the aliases of SELECT written out, as Spark reads it; a column of FROM wins."""
    visible = {column.name.lower() for column in scope.columns()}
    aliases = {
        item.alias.lower(): item.this
        for item in tree.expressions
        if isinstance(item, exp.Alias) and item.alias.lower() not in visible
    }

    def written_out(part: exp.Expr) -> exp.Expr:
        found = aliases.get(part.name.lower()) if isinstance(part, exp.Column) and not part.table else None
        return found.copy() if found is not None else part

    return having.transform(written_out) if aliases else having
