"""What the binders of all steps share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sqlglot import exp

from compiler.analysis.builder import Builder
from compiler.analysis.catalog import Catalog
from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.grouping import output_name
from compiler.analysis.scope import Part, Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.expr import Column, Expr
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.syntax import declarations as decl
from compiler.syntax.dialect import parse_expression
from compiler.syntax.durations import parse_signed_duration_ms
from compiler.syntax.fragment import Fragment

Item = TypeVar("Item")
T = TypeVar("T")

Before = tuple[decl.Step, ...]
"""The steps before one."""

Rows = tuple[Node, Scope]
"""What a step gives: its operator, and the names by which the columns can be reached."""

BindStep = Callable[..., Rows]
"""Takes the binder, the rows so far, their names, the step and the steps before it."""


class StepsBinder:
    """Binds the steps of one model.

    Args:
        catalog: what relation names mean.
        builder: makes the operators.
        steps: how each kind of step is bound.
        warn: takes what is doubtful.
    """

    def __init__(
        self,
        catalog: Catalog,
        builder: Builder,
        steps: Mapping[type[decl.Step], BindStep],
        warn: Callable[[Diagnostic], None],
    ) -> None:
        self.catalog = catalog
        self.builder = builder
        builder.written = "yaml"
        self._steps = steps
        self._warn = warn

    def bind(self, body: decl.StepsBody) -> Node:
        """Binds all steps in order.

        Raises:
            DiagnosticError: the mistakes up to the first step that leaves open which columns there are.
            Poisoned: a relation has a mistake of its own.
        """
        relation = self.catalog.get(body.source.value, body.source.span)
        node, scope = relation.node, Scope.of(relation.node.schema, relation.name)
        wrong: list[Diagnostic] = []
        for index, step in enumerate(body.steps):
            bind = self._steps[type(step)]
            try:
                node, scope = bind(self, node, scope, step, body.steps[:index])
            except DiagnosticError as error:
                wrong.extend(error.diagnostics)
                if not step.keeps_columns:
                    break
        if wrong:
            raise DiagnosticError(*wrong)
        return self.flat(node, scope, body.span)

    def flat(self, node: Node, scope: Scope, span: Span) -> Node:
        """After a join without a select, every visible column under its own name."""
        items = [
            NamedExpr(c.name, Column(c.field.type, c.field.nullable, c.field.name)) for c in scope.columns()
        ]
        return self.builder.project(node, items, span)

    # --- expressions ---------------------------------------------------------

    def expression(
        self, fragment: Fragment, scope: Scope, clause: str, aggregates: bool = False
    ) -> tuple[Expr, str | None]:
        """A bound expression, and the name that follows from it."""
        parsed = parse_expression(fragment)
        alias = parsed.tree.alias if isinstance(parsed.tree, exp.Alias) else None
        inner = parsed.tree.this if isinstance(parsed.tree, exp.Alias) else parsed.tree
        binder = ExpressionBinder(scope, fragment, clause, aggregates, self._warn)
        return binder.bind(inner), output_name(inner, alias)

    def condition(self, fragment: Fragment, scope: Scope, clause: str) -> Expr:
        """A bound predicate."""
        parsed = parse_expression(fragment)
        return ExpressionBinder(scope, fragment, clause, warn=self._warn).condition(parsed.tree, clause)

    def named(
        self, item: decl.NamedExpression, scope: Scope, clause: str, aggregates: bool = False
    ) -> NamedExpr:
        """A bound column under its own name, or the one that follows from it."""
        expr, derived = self.expression(item.expression, scope, clause, aggregates)
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


def of_all(work: Callable[[Item], T], items: Sequence[Item]) -> list[T]:
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


def alias(scope: Scope) -> str | None:
    """The name under which a relation stays known after a step: that of the model's input."""
    first: Part = scope.parts[0]
    return first.alias


def duration(text: decl.Text) -> int:
    """Milliseconds of a duration such as `5 minutes`; the reader has seen to its sign.

    Raises:
        DiagnosticError: it is none (HR104).
    """
    milliseconds = parse_signed_duration_ms(text.value)
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
