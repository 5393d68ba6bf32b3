"""From YAML's steps to operators: the same builder calls as SQL makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from sqlglot import exp

from compiler.analysis.aggregates import rewrite_aggregate
from compiler.analysis.builder import Builder, identity
from compiler.analysis.catalog import Catalog
from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.grouping import output_name, split_aggregates
from compiler.analysis.joins import join_seed
from compiler.analysis.scope import Part, Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.expr import Column, Expr, is_aggregate
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax import declarations as decl
from compiler.syntax.dialect import parse_expression
from compiler.syntax.durations import parse_duration_ms
from compiler.syntax.fragment import Fragment

Item = TypeVar("Item")
T = TypeVar("T")


class StepsBinder:
    """Binds the steps of one model.

    Args:
        catalog: what relation names mean.
        builder: makes the operators.
    """

    def __init__(self, catalog: Catalog, builder: Builder) -> None:
        self.catalog = catalog
        self.builder = builder

    def bind(self, body: decl.StepsBody) -> Node:
        """Binds all steps in order.

        Raises:
            DiagnosticError: the first mistake; a step is judged by what the steps before it gave.
            Poisoned: a relation has a mistake of its own.
        """
        relation = self.catalog.get(body.source.value, body.source.span)
        node, scope = relation.node, Scope.of(relation.node.schema, relation.name)
        for index, step in enumerate(body.steps):
            handler = _STEPS[type(step)]
            node, scope = handler(self, node, scope, step, body.steps[:index])
        return self._flat(node, scope, body.span)

    def _flat(self, node: Node, scope: Scope, span: Span) -> Node:
        """After a join without a select, every visible column under its own name."""
        items = [
            NamedExpr(c.name, Column(c.field.type, c.field.nullable, c.field.name)) for c in scope.columns()
        ]
        return self.builder.project(node, items, span)

    # --- expressions ---------------------------------------------------------

    def _expression(
        self, fragment: Fragment, scope: Scope, clause: str, aggregates: bool = False
    ) -> tuple[Expr, str | None]:
        """A bound expression, and the name that follows from it."""
        parsed = parse_expression(fragment)
        alias = parsed.tree.alias if isinstance(parsed.tree, exp.Alias) else None
        inner = parsed.tree.this if isinstance(parsed.tree, exp.Alias) else parsed.tree
        binder = ExpressionBinder(scope, fragment, clause, aggregates)
        return binder.bind(inner), output_name(inner, alias)

    def _condition(self, fragment: Fragment, scope: Scope, clause: str) -> Expr:
        parsed = parse_expression(fragment)
        return ExpressionBinder(scope, fragment, clause).condition(parsed.tree, clause)

    def _named(
        self, item: decl.NamedExpression, scope: Scope, clause: str, aggregates: bool = False
    ) -> NamedExpr:
        expr, derived = self._expression(item.expression, scope, clause, aggregates)
        name = item.name.value if item.name else derived
        if name is None:
            span = item.expression.span()
            raise DiagnosticError(
                Diagnostic(
                    codes.UNNAMED_COLUMN,
                    f"output column `{item.expression.text.strip()}` has no name",
                    span,
                    fix=f"write `name: {item.expression.text.strip()}`",
                )
            )
        return NamedExpr(name, expr)

    # --- steps ---------------------------------------------------------------

    def filter(self, node: Node, scope: Scope, step: decl.FilterStep, _: object) -> tuple[Node, Scope]:
        """`filter: predicate`."""
        predicate = self._condition(step.predicate, scope, "filter")
        return self.builder.filter(node, predicate, step.span), scope

    def select(self, node: Node, scope: Scope, step: decl.SelectStep, _: object) -> tuple[Node, Scope]:
        """`select: [columns]` or `select: {name: expression}`."""
        every = [
            NamedExpr(c.name, Column(c.field.type, c.field.nullable, c.field.name)) for c in scope.columns()
        ]

        def named(item: decl.NamedExpression) -> list[NamedExpr]:
            if item.name is None and item.expression.text.strip() == "*":
                return every
            return [self._named(item, scope, "select")]

        found = _of_all(named, step.items)
        items = [item for part in found for item in part]
        result = self.builder.project(node, items, step.span)
        return result, Scope.of(result.schema, _alias(scope))

    def derive(self, node: Node, scope: Scope, step: decl.DeriveStep, _: object) -> tuple[Node, Scope]:
        """`derive: {name: expression}`: every column, and the new ones."""
        added = _of_all(lambda item: self._named(item, scope, "derive"), step.items)
        names: dict[str, NamedExpr] = {item.name.lower(): item for item in added}
        items = [
            names.pop(c.name.lower())
            if c.name.lower() in names
            else NamedExpr(c.name, Column(c.field.type, c.field.nullable, c.field.name))
            for c in scope.columns()
        ]
        items.extend(names.values())
        result = self.builder.project(node, items, step.span)
        return result, Scope.of(result.schema, _alias(scope))

    def window(self, node: Node, scope: Scope, step: decl.WindowStep, _: object) -> tuple[Node, Scope]:
        """`window: {tumble: {on, size}}`."""
        column = scope.resolve((step.on.value,), step.on.span)
        if not isinstance(column, Column):
            raise DiagnosticError(Diagnostic(codes.WRONG_VALUE, "`on` must name a column", step.on.span))
        field = node.schema.get(column.name)
        assert field is not None
        size = _duration(step.size)
        slide = _duration(step.slide) if step.slide else size
        offset = _duration(step.offset) if step.offset else 0
        sizes = step.slide.span.to(step.size.span) if step.slide else step.size.span
        shape: Literal["tumble", "hop"] = "hop" if step.kind == "hop" else "tumble"
        result = self.builder.window(node, shape, field, size, slide, offset, step.span, step.on.span, sizes)
        return result, Scope.of(result.schema, _alias(scope))

    def aggregate(
        self, node: Node, scope: Scope, step: decl.AggregateStep, before: tuple[decl.Step, ...]
    ) -> tuple[Node, Scope]:
        """`aggregate: {by: [keys], name: aggregate}`; after a window its bounds are keys too."""
        items = [*((item, True) for item in step.by), *((item, False) for item in step.aggregates)]
        found = _of_all(
            lambda i: self._named(i[0], scope, "by") if i[1] else self._aggregate(i[0], scope), items
        )
        keys, values = found[: len(step.by)], found[len(step.by) :]
        given = {key.name.lower() for key in keys}
        if _follows_window(before):
            bounds = [c for c in identity(node.schema) if c.name in ("window_start", "window_end")]
            keys = [bound for bound in bounds if bound.name not in given] + keys
        # An aggregate inside a larger expression is computed first, the rest in a projection above.
        plain, above = split_aggregates(keys, values)
        lowered = [NamedExpr(v.name, rewrite_aggregate(v.expr)) for v in plain]
        grouped: Node = self.builder.aggregate(node, keys, lowered, step.span)
        if above is not None:
            grouped = self.builder.project(grouped, above, step.span)
        return grouped, Scope.of(grouped.schema, _alias(scope))

    def _aggregate(self, item: decl.NamedExpression, scope: Scope) -> NamedExpr:
        value = self._named(item, scope, "aggregate", aggregates=True)
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

    def join(self, node: Node, scope: Scope, step: decl.JoinStep, _: object) -> tuple[Node, Scope]:
        """`join: {with: seed, on: condition}`."""
        relation = self.catalog.get(step.relation.value, step.relation.span)

        def condition(both: Scope) -> Expr | None:
            return self._condition(step.on, both, "on") if step.on is not None else None

        return join_seed(
            self.builder,
            node,
            scope,
            relation.node,
            relation.name,
            step.kind,
            condition,
            [name.value for name in step.using],
            step.span,
        )

    def union(self, node: Node, scope: Scope, step: decl.UnionStep, _: object) -> tuple[Node, Scope]:
        """`union: [relations]`."""
        others = [self.catalog.get(name.value, name.span) for name in step.relations]
        first = self._flat(node, scope, step.span)
        spans = [step.span, *(name.span for name in step.relations)]
        result = self.builder.union([first, *(other.node for other in others)], spans, step.span)
        return result, Scope.of(result.schema, _alias(scope))


_STEPS: dict[type[Any], Callable[..., tuple[Node, Scope]]] = {
    decl.FilterStep: StepsBinder.filter,
    decl.SelectStep: StepsBinder.select,
    decl.DeriveStep: StepsBinder.derive,
    decl.WindowStep: StepsBinder.window,
    decl.AggregateStep: StepsBinder.aggregate,
    decl.JoinStep: StepsBinder.join,
    decl.UnionStep: StepsBinder.union,
}


def _of_all(work: Callable[[Item], T], items: Sequence[Item]) -> list[T]:
    """What each item of a step gives, or all the mistakes of all of them."""
    found: list[T] = []
    wrong: list[Diagnostic] = []
    for item in items:
        try:
            found.append(work(item))
        except DiagnosticError as error:
            wrong.extend(error.diagnostics)
    if wrong:
        raise DiagnosticError(*wrong)
    return found


def _alias(scope: Scope) -> str | None:
    """The name under which a relation stays known after a step: that of the model's input."""
    first: Part = scope.parts[0]
    return first.alias


def _follows_window(before: tuple[decl.Step, ...]) -> bool:
    for step in reversed(before):
        if isinstance(step, decl.WindowStep):
            return True
        if isinstance(step, (decl.AggregateStep, decl.SelectStep)):
            return False
    return False


def _duration(text: decl.Text) -> int:
    milliseconds = parse_duration_ms(text.value)
    if milliseconds is None:
        raise DiagnosticError(
            Diagnostic(
                codes.WRONG_VALUE,
                f"`{text.value}` is not a duration",
                text.span,
                fix="write for example `5 minutes`",
            )
        )
    return milliseconds
