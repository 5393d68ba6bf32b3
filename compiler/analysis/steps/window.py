"""Assigns windows."""

from __future__ import annotations

from typing import Literal

from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, duration
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.plan.expr import Column
from compiler.plan.node import Node
from compiler.syntax.steps.window import WindowStep


def bind_window(binder: StepsBinder, node: Node, scope: Scope, step: WindowStep, _: Before) -> Rows:
    """`window: {tumble: {on, size}}`."""
    column = scope.resolve((step.on.value,), step.on.span)
    if not isinstance(column, Column):
        raise DiagnosticError(Diagnostic(codes.WRONG_VALUE, "`on` must name a column", step.on.span))
    field = node.schema.get(column.name)
    assert field is not None
    size = duration(step.size)
    slide = duration(step.slide) if step.slide else size
    offset = duration(step.offset) if step.offset else 0
    sizes = step.slide.span.to(step.size.span) if step.slide else step.size.span
    shape: Literal["tumble", "hop"] = "hop" if step.kind == "hop" else "tumble"
    result = binder.builder.window(node, shape, field, size, slide, offset, step.span, step.on.span, sizes)
    return result, Scope.of(result.schema, alias(scope))
