"""`order_by:` of a step."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.over import sort_key
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import of_all
from compiler.plan.expr import SortKey
from compiler.syntax.dialect import parse_sort
from compiler.syntax.fragment import Fragment


def bind_order(items: Sequence[Fragment], scope: Scope) -> tuple[SortKey, ...]:
    """The items of `order_by`.

    Raises:
        DiagnosticError: the mistakes in them.
    """

    def bound(item: Fragment) -> SortKey:
        return sort_key(ExpressionBinder(scope, item, "order_by"), parse_sort(item).tree)

    return tuple(of_all(bound, items))
