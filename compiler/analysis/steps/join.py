"""Joins with a small table."""

from __future__ import annotations

from compiler.analysis.joins import join_seed
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder
from compiler.plan.expr import Expr
from compiler.plan.node import Node
from compiler.syntax.steps.join import JoinStep


def bind_join(binder: StepsBinder, node: Node, scope: Scope, step: JoinStep, _: Before) -> Rows:
    """`join: {with: seed, on: condition}`."""
    relation = binder.catalog.get(step.relation.value, step.relation.span)

    def condition(both: Scope) -> Expr | None:
        return binder.condition(step.on, both, "on") if step.on is not None else None

    return join_seed(
        binder.builder,
        node,
        scope,
        relation.node,
        relation.name,
        step.kind,
        condition,
        [name.value for name in step.using],
        step.span,
    )
