"""Keeps the first rows of each group."""

from __future__ import annotations

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, of_all
from compiler.analysis.steps.sorting import bind_order
from compiler.analysis.top_n import build_top_n
from compiler.plan.node import Node
from compiler.syntax.steps.top import TopStep


def bind_top(binder: StepsBinder, node: Node, scope: Scope, step: TopStep, _: Before) -> Rows:
    """`top: {by: [keys], order_by: price desc, n: 3, rank: name}`."""
    keys = of_all(lambda item: binder.expression(item.expression, scope, "by")[0], step.by)
    order = bind_order(step.order, scope)
    rank = step.rank.value if step.rank is not None else None
    kept = build_top_n(binder.builder, node, keys, order, step.n, rank, step.span)
    return kept, Scope.of(kept.schema, alias(scope))
