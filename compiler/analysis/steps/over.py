"""Computes over the rows before each."""

from __future__ import annotations

from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.over import build_over, over_call, over_expr
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, duration, of_all
from compiler.analysis.steps.sorting import bind_order
from compiler.plan.expr import Frame
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax.declarations import NamedExpression
from compiler.syntax.dialect import parse_expression
from compiler.syntax.steps.over import OverStep


def bind_over(binder: StepsBinder, node: Node, scope: Scope, step: OverStep, _: Before) -> Rows:
    """`over: {by: [keys], order_by: time, range: 1 hour, name: sum(amount)}`."""
    keys = of_all(lambda item: binder.expression(item.expression, scope, "by")[0], step.by)
    order = bind_order(step.order, scope)
    far = step.preceding
    frame = Frame(step.unit, far if far is None or isinstance(far, int) else duration(far))

    def bound(item: NamedExpression) -> NamedExpr:
        parsed = parse_expression(item.expression)
        call = over_call(ExpressionBinder(scope, item.expression, "over"), parsed.tree)
        assert item.name is not None  # a mapping's key
        return NamedExpr(item.name.value, over_expr(call, keys, order, frame))

    functions = of_all(bound, step.functions)
    places = [item.expression.span() for item in step.functions]
    made = build_over(binder.builder, node, functions, places)
    return made, Scope.of(made.schema, alias(scope))
