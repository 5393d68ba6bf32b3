"""WHERE, of which a join of two streams may take the parts that bound it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.relations import Bound
from compiler.analysis.scope import Scope
from compiler.analysis.select_items import alias_unseen
from compiler.analysis.subqueries import bind_subquery, is_subquery
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.plan.expr import Expr, conjunction
from compiler.plan.node import Node

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

Wanted = Callable[[Expr], bool]

_WHERE = "WHERE is computed before SELECT, so it cannot see SELECT's names"


class Where:
    """The WHERE clause of a SELECT.

    `FROM a, b WHERE a.k = b.k AND …` is an inner join whose condition stands in WHERE; what the join takes
    is not filtered once more.
    """

    def __init__(self, binder: QueryBinder, tree: exp.Select) -> None:
        self._binder = binder
        self._tree = tree
        self._where: exp.Expr | None = tree.args.get("where")
        parts = _conjuncts(self._where.this) if self._where is not None else []
        self._left: list[exp.Expr] = [part for part in parts if not is_subquery(part)]
        self._subqueries = [part for part in parts if is_subquery(part)]
        self._whole = not self._subqueries

    def of(self, join: exp.Join) -> Callable[[Scope, Wanted], list[Expr]]:
        """What gives the parts of WHERE to one join of the SELECT."""
        joins: list[exp.Join] = self._tree.args.get("joins") or []
        after = joins[next(i for i, other in enumerate(joins) if other is join) + 1 :]

        def take(scope: Scope, wanted: Wanted) -> list[Expr]:
            # An outer join above would see rows that WHERE takes away only behind it.
            if any((other.side or "").lower() in ("right", "full") for other in after):
                return []
            return self._take(scope, wanted, last=not after)

        return take

    def _take(self, scope: Scope, wanted: Wanted, last: bool) -> list[Expr]:
        taken: list[Expr] = []
        left: list[exp.Expr] = []
        for part in self._left:
            bound = self._bound(part, scope, last)
            if bound is not None and wanted(bound):
                taken.append(bound)
                self._whole = False
            else:
                left.append(part)
        self._left = left
        return taken

    def _bound(self, part: exp.Expr, scope: Scope, last: bool) -> Expr | None:
        columns = list(part.find_all(exp.Column))
        # A name without its relation could be that of one that is joined later.
        if not last and not all(column.table and scope.part(column.table) for column in columns):
            return None
        try:
            return self._binder.expressions(scope, "WHERE").condition(part, "WHERE")
        except DiagnosticError:
            # It is told when what is left of WHERE is bound.
            return None

    def filter(self, bound: Bound) -> Node | None:
        """The rows that pass; None if a mistake was found and told."""
        node = self._filtered(bound)
        for part in self._subqueries:
            rows = Bound(node or bound.node, bound.scope)
            found = self._binder.attempt(lambda rows=rows, part=part: bind_subquery(self._binder, rows, part))  # type: ignore[misc]  # bound now
            node = found if node is not None else None
        return node

    def _filtered(self, bound: Bound) -> Node | None:
        if self._where is None or not self._left:
            return bound.node
        binder = self._binder.expressions(bound.scope, "WHERE")
        try:
            if self._whole:
                predicate = binder.condition(self._where.this, "WHERE")
            else:
                predicate = conjunction([binder.condition(part, "WHERE") for part in self._left])
        except DiagnosticError as error:
            aliases = {i.alias.lower(): i.this for i in self._tree.expressions if isinstance(i, exp.Alias)}
            self._binder.reporter.extend(
                alias_unseen(self._binder, found, aliases, _WHERE) for found in error.diagnostics
            )
            return None
        return self._binder.builder.filter(bound.node, predicate, self._binder.span(self._where))


def _conjuncts(tree: exp.Expr) -> list[exp.Expr]:
    parts: list[exp.Expr] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.And):
            stack += [node.args["expression"], node.this]
        elif isinstance(node, exp.Paren) and isinstance(node.this, exp.And):
            stack.append(node.this)
        else:
            parts.append(node)
    return parts
