"""Keeps rows."""

from __future__ import annotations

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder
from compiler.plan.node import Node
from compiler.syntax.steps.filter import FilterStep


def bind_filter(binder: StepsBinder, node: Node, scope: Scope, step: FilterStep, _: Before) -> Rows:
    """`filter: predicate`."""
    predicate = binder.condition(step.predicate, scope, "filter")
    return binder.builder.filter(node, predicate, step.span), scope
