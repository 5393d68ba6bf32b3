"""Assigns windows."""

from __future__ import annotations

from compiler.analysis.builder import Builder
from compiler.analysis.scope import Scope
from compiler.analysis.stacked_windows import lacks_time
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, duration
from compiler.analysis.window_assign import Places, Sizes, assign_session, assign_window
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.plan.expr import Column
from compiler.plan.node import Node
from compiler.plan.schema import Field
from compiler.syntax import declarations as decl
from compiler.syntax.steps.window import SessionStep, WindowStep


def bind_window(binder: StepsBinder, node: Node, scope: Scope, step: WindowStep, _: Before) -> Rows:
    """`window: {tumble: {on, size}}`, `hop` and `cumulate`."""
    column = _column(binder.builder, node, scope, step.on, "`on`")
    size = duration(step.size)
    slide = duration(step.slide) if step.slide else size
    offset = duration(step.offset) if step.offset else 0
    sizes = step.slide.span.to(step.size.span) if step.slide else step.size.span
    result = assign_window(
        binder.builder,
        node,
        column,
        Sizes(step.shape, size, slide, offset),
        Places(step.span, step.on.span, sizes),
    )
    return result, Scope.of(result.schema, alias(scope))


def bind_session(binder: StepsBinder, node: Node, scope: Scope, step: SessionStep, _: Before) -> Rows:
    """`window: {session: {by, on, gap}}`."""
    column = _column(binder.builder, node, scope, step.on, "`on`")
    keys = [_column(binder.builder, node, scope, key, "`by`") for key in step.by]
    places = Places(step.span, step.on.span, step.gap.span)
    result = assign_session(binder.builder, node, keys, column, duration(step.gap), places)
    return result, Scope.of(result.schema, alias(scope))


def _column(builder: Builder, node: Node, scope: Scope, name: decl.Text, what: str) -> Field:
    try:
        column = scope.resolve((name.value,), name.span)
    except DiagnosticError as error:
        raise lacks_time(builder, node, name.value, error) from error
    if not isinstance(column, Column):
        raise DiagnosticError(Diagnostic(codes.WRONG_VALUE, f"{what} must name a column", name.span))
    field = node.schema.get(column.name)
    assert field is not None
    return field
