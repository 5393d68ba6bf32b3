"""Leaves out rows that were there before."""

from __future__ import annotations

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias
from compiler.plan.node import Node
from compiler.syntax.steps.distinct import DistinctStep


def bind_distinct(binder: StepsBinder, node: Node, scope: Scope, step: DistinctStep, _: Before) -> Rows:
    """`distinct: true`."""
    result = binder.builder.distinct(binder.flat(node, scope, step.span), step.span)
    return result, Scope.of(result.schema, alias(scope))
