"""Chooses columns."""

from __future__ import annotations

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, of_all
from compiler.plan.expr import Column
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax import declarations as decl
from compiler.syntax.steps.select import SelectStep


def bind_select(binder: StepsBinder, node: Node, scope: Scope, step: SelectStep, _: Before) -> Rows:
    """`select: [columns]` or `select: {name: expression}`."""
    every = [NamedExpr(c.name, Column(c.field.type, c.field.nullable, c.field.name)) for c in scope.columns()]

    def named(item: decl.NamedExpression) -> list[NamedExpr]:
        if item.name is None and item.expression.text.strip() == "*":
            return every
        return [binder.named(item, scope, "select")]

    found = of_all(named, step.items)
    items = [item for part in found for item in part]
    result = binder.builder.project(node, items, step.span)
    return result, Scope.of(result.schema, alias(scope))
