"""Takes arrays and maps apart."""

from __future__ import annotations

from compiler.analysis.generate import unnest
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder
from compiler.plan import types as t
from compiler.plan.node import Node
from compiler.syntax.steps.unnest import UnnestStep


def bind_unnest(binder: StepsBinder, node: Node, scope: Scope, step: UnnestStep, _: Before) -> Rows:
    """`unnest: {of: tags, as: tag}`: every column, and those of the elements."""
    value, _name = binder.expression(step.of, scope, "unnest")
    names = [name.value for name in step.names]
    if step.ordinality is not None:
        names = [*(names or _own_names(value.type)), step.ordinality.value]
    made, part = unnest(
        binder.builder,
        node,
        value,
        names,
        None,
        step.span,
        outer=step.outer,
        ordinality=step.ordinality is not None,
    )
    return made, Scope((*scope.parts, part))


def _own_names(found: t.DataType) -> list[str]:
    if isinstance(found, t.Map):
        return ["key", "value"]
    if isinstance(found, t.Array) and isinstance(found.element, t.Struct):
        return [field.name for field in found.element.fields]
    return ["col"]
