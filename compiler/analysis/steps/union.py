"""Unites relations."""

from __future__ import annotations

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias
from compiler.plan.node import Node
from compiler.syntax.steps.union import UnionStep


def bind_union(binder: StepsBinder, node: Node, scope: Scope, step: UnionStep, _: Before) -> Rows:
    """`union: [relations]`."""
    others = [binder.catalog.get(name.value, name.span) for name in step.others]
    first = binder.flat(node, scope, step.span)
    spans = [step.span, *(name.span for name in step.others)]
    result = binder.builder.union([first, *(other.node for other in others)], spans, step.span)
    return result, Scope.of(result.schema, alias(scope))
