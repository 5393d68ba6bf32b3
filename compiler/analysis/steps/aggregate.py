"""Groups rows."""

from __future__ import annotations

from compiler.analysis.aggregates import rewrite_aggregate
from compiler.analysis.builder import identity
from compiler.analysis.grouping import split_aggregates
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, of_all
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.plan.expr import is_aggregate
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax import declarations as decl
from compiler.syntax.steps.aggregate import AggregateStep
from compiler.syntax.steps.select import SelectStep
from compiler.syntax.steps.window import SessionStep, WindowStep


def bind_aggregate(
    binder: StepsBinder, node: Node, scope: Scope, step: AggregateStep, before: Before
) -> Rows:
    """`aggregate: {by: [keys], name: aggregate}`; after a window its bounds are keys too."""
    items = [*((item, True) for item in step.by), *((item, False) for item in step.aggregates)]
    found = of_all(
        lambda i: binder.named(i[0], scope, "by") if i[1] else _aggregate(binder, i[0], scope), items
    )
    keys, values = found[: len(step.by)], found[len(step.by) :]
    given = {key.name.lower() for key in keys}
    if _follows_window(before):
        bounds = [c for c in identity(node.schema) if c.name in ("window_start", "window_end")]
        keys = [bound for bound in bounds if bound.name not in given] + keys
    # An aggregate inside a larger expression is computed first, the rest in a projection above.
    plain, above = split_aggregates(keys, values)
    lowered = [NamedExpr(v.name, rewrite_aggregate(v.expr, node.schema)) for v in plain]
    grouped: Node = binder.builder.aggregate(node, keys, lowered, step.span)
    if above is not None:
        grouped = binder.builder.project(grouped, above, step.span)
    return grouped, Scope.of(grouped.schema, alias(scope))


def _aggregate(binder: StepsBinder, item: decl.NamedExpression, scope: Scope) -> NamedExpr:
    value = binder.named(item, scope, "aggregate", aggregates=True)
    if not is_aggregate(value.expr):
        raise DiagnosticError(
            Diagnostic(
                codes.NOT_GROUPED,
                f"`{value.name}` is not an aggregate",
                item.expression.span(),
                cause="a group has many rows, and which one's value is meant is not said",
                fix="list it under `by`, or use an aggregate function such as max",
            )
        )
    return value


def _follows_window(before: Before) -> bool:
    for step in reversed(before):
        if isinstance(step, (WindowStep, SessionStep)):
            return True
        if isinstance(step, (AggregateStep, SelectStep)):
            return False
    return False
