"""Rows read as changes, and changes made rows."""

from __future__ import annotations

from compiler.analysis.changelog_functions import from_changelog, to_changelog
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.expr import Column
from compiler.plan.node import Node
from compiler.plan.schema import Field
from compiler.syntax.declarations import Text
from compiler.syntax.steps.changelog import ChangelogStep


def bind_changelog(binder: StepsBinder, node: Node, scope: Scope, step: ChangelogStep, _: Before) -> Rows:
    """`from_changelog: {by, op, op_mapping}` and `to_changelog: {by, op, op_mapping}`."""
    key = [_column(node, scope, name, name.span) for name in step.by]
    pairs = step.mapping
    mapping = [(k.value, v.value, k.span.to(v.span)) for k, v in pairs] if pairs is not None else None
    if step.function == "to_changelog":
        op = step.op.value if step.op is not None else "op"
        result = to_changelog(binder.builder, node, key, op, mapping, step.span)
    else:
        name, place = (step.op, step.op.span) if step.op is not None else (Text("op", step.span), step.span)
        field = _column(node, scope, name, place)
        skips = _skips(step.invalid)
        result = from_changelog(binder.builder, node, key, field, mapping, skips, step.span)
    return result, Scope.of(result.schema, alias(scope))


def _column(node: Node, scope: Scope, name: Text, place: Span) -> Field:
    found = scope.resolve((name.value,), place)
    field = node.schema.get(found.name) if isinstance(found, Column) else None
    if field is None:
        raise DiagnosticError(Diagnostic(codes.WRONG_VALUE, f"`{name.value}` must name a column", place))
    return field


def _skips(word: Text | None) -> bool:
    if word is None:
        return False
    if word.value.lower() not in ("fail", "skip"):
        message = f"`invalid_op_handling` is fail or skip, not `{word.value}`"
        raise DiagnosticError(Diagnostic(codes.WRONG_VALUE, message, word.span))
    return word.value.lower() == "skip"
