"""Keeps one row of each group."""

from __future__ import annotations

from dataclasses import replace

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, of_all
from compiler.analysis.steps.sorting import bind_order
from compiler.analysis.top_n import build_top_n
from compiler.plan.node import Node
from compiler.syntax.steps.dedup import DedupStep


def bind_dedup(binder: StepsBinder, node: Node, scope: Scope, step: DedupStep, _: Before) -> Rows:
    """`dedup: {by: [keys], order_by: column, keep: last}`; the last is the first the other way round."""
    keys = of_all(lambda item: binder.expression(item.expression, scope, "by")[0], step.by)
    order = bind_order(step.order, scope)
    if step.keep is not None and step.keep.value == "last":
        order = tuple(
            replace(key, descending=not key.descending, nulls_first=not key.nulls_first) for key in order
        )
    kept = build_top_n(binder.builder, node, keys, order, 1, None, step.span)
    return kept, Scope.of(kept.schema, alias(scope))
