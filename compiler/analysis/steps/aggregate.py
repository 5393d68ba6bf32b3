"""Groups rows."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.analysis.builder import identity
from compiler.analysis.group_keys import GroupKeys, KeySet, combine, cube, rollup
from compiler.analysis.grouping import build_groups
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, of_all
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.plan.expr import Expr, is_aggregate
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax import declarations as decl
from compiler.syntax.steps.aggregate import AggregateStep
from compiler.syntax.steps.select import SelectStep
from compiler.syntax.steps.window import SessionStep, WindowStep


def bind_aggregate(
    binder: StepsBinder, node: Node, scope: Scope, step: AggregateStep, before: Before
) -> Rows:
    """`aggregate: {by: [keys], rollup: [keys], name: aggregate}`; after a window its bounds are keys too."""
    in_sets = [key for sets in step.sets for part in sets.parts for key in part]
    items = [*((item, True) for item in (*step.by, *in_sets)), *((item, False) for item in step.aggregates)]
    found = of_all(
        lambda i: binder.named(i[0], scope, "by") if i[1] else _aggregate(binder, i[0], scope), items
    )
    keys, values = found[: len(items) - len(step.aggregates)], found[len(items) - len(step.aggregates) :]
    given = {key.name.lower() for key in keys}
    bounds: list[NamedExpr] = []
    if _follows_window(before):
        bounds = [c for c in identity(node.schema) if c.name in ("window_start", "window_end")]
    group = _keys(step, [bound for bound in bounds if bound.name not in given], keys)
    expressions = [(value.name, value.expr) for value in values]
    groups = build_groups(binder.builder, node, group, expressions, step.span)
    places = [item.expression.span() for item in step.aggregates]
    result = [NamedExpr(key.name, groups.over(key.expr, step.span, "by")) for key in group.keys]
    result += [
        NamedExpr(value.name, groups.over(value.expr, place, f"`{value.name}`"))
        for value, place in zip(values, places, strict=True)
    ]
    grouped = binder.builder.project(groups.node, result, step.span)
    return grouped, Scope.of(grouped.schema, alias(scope))


def _keys(step: AggregateStep, bounds: list[NamedExpr], keys: list[NamedExpr]) -> GroupKeys:
    """The keys as SQL has them: bounds and `by`, each a set of one, then ROLLUP, CUBE and GROUPING SETS."""
    named: Iterator[tuple[str | None, Expr]] = iter([(key.name, key.expr) for key in keys])
    single: list[KeySet] = [((bound.name, bound.expr),) for bound in bounds]
    single += [(next(named),) for _ in step.by]
    elements = [[keys] for keys in single]
    for sets in step.sets:
        parts: list[KeySet] = [tuple(next(named) for _ in part) for part in sets.parts]
        if sets.kind == "rollup":
            parts = rollup(parts)
        elif sets.kind == "cube":
            parts = cube(parts, step.span)
        elements.append(parts)
    return combine(elements, step.span)


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
