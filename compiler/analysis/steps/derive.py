"""Adds columns."""

from __future__ import annotations

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, of_all
from compiler.plan.expr import Column
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax.steps.derive import DeriveStep


def bind_derive(binder: StepsBinder, node: Node, scope: Scope, step: DeriveStep, _: Before) -> Rows:
    """`derive: {name: expression}`: every column, and the new ones."""
    added = of_all(lambda item: binder.named(item, scope, "derive"), step.items)
    names: dict[str, NamedExpr] = {item.name.lower(): item for item in added}
    items = [
        names.pop(c.name.lower())
        if c.name.lower() in names
        else NamedExpr(c.name, Column(c.field.type, c.field.nullable, c.field.name))
        for c in scope.columns()
    ]
    items.extend(names.values())
    result = binder.builder.project(node, items, step.span)
    return result, Scope.of(result.schema, alias(scope))
