"""Hands rows to a process function."""

from __future__ import annotations

from compiler.analysis.catalog import Poisoned
from compiler.analysis.process import Argument, build_process
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias
from compiler.analysis.user_functions import is_broken, process_function, process_names
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.suggest import did_you_mean
from compiler.jobplan.operators.base import OptionValue
from compiler.plan.node import Node
from compiler.plan.schema import Field
from compiler.syntax.declarations import Text
from compiler.syntax.steps.process import ProcessStep


def bind_process(binder: StepsBinder, node: Node, scope: Scope, step: ProcessStep, _: Before) -> Rows:
    """`process: {function, by, with}`."""
    function = process_function(step.function.value)
    if function is None and is_broken(step.function.value):
        raise Poisoned(step.function.value)
    if function is None:
        names = process_names()
        raise DiagnosticError(
            Diagnostic(
                codes.FUNCTION_TARGET,
                f"there is no process function `{step.function.value}`",
                step.function.span,
                cause=f"there are {', '.join(names)}" if names else "no file under functions/ has one",
                fix=did_you_mean(step.function.value, names),
            )
        )
    rows = binder.flat(node, scope, step.span)
    keys = [_column(rows, name) for name in step.by]
    arguments = [Argument(a.key.value, _value(a.value), a.key.span) for a in step.arguments]
    result = build_process(binder.builder, rows, function, keys, arguments, step.span)
    return result, Scope.of(result.schema, alias(scope))


def _column(node: Node, name: Text) -> Field:
    Scope.of(node.schema).resolve((name.value,), name.span)
    field = node.schema.get(name.value)
    assert field is not None  # resolved above
    return field


def _value(text: Text) -> OptionValue | None:
    """A scalar as YAML reads it: quotes make it a text."""
    if text.quoted:
        return text.value
    words: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None}
    if text.value.lower() in words:
        return words[text.value.lower()]
    for number in (int, float):
        try:
            return number(text.value)
        except ValueError:
            continue
    return text.value
