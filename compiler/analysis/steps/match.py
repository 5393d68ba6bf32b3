"""Finds a pattern of rows."""

from __future__ import annotations

from compiler.analysis.match.build import Clauses, Named, Sorting, build_match
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder, alias, duration
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.plan.node import Node
from compiler.plan.schema import Field
from compiler.syntax import declarations as decl
from compiler.syntax.dialect import parse_expression
from compiler.syntax.patterns import parse_pattern, parse_skip
from compiler.syntax.steps.match import MatchStep


def bind_match(binder: StepsBinder, node: Node, scope: Scope, step: MatchStep, _: Before) -> Rows:
    """`match: {by, order_by, pattern, within, after_match, define, measures}`."""
    rows = binder.flat(node, scope, step.span)
    pattern = parse_pattern(step.pattern)
    result = build_match(
        binder.builder,
        rows,
        Clauses(
            keys=tuple(_column(rows, name) for name in step.by),
            order=tuple(Sorting(_column(rows, o.column), o.descending, o.column.span) for o in step.order_by),
            pattern=pattern,
            skip=parse_skip(step.after_match, pattern) if step.after_match is not None else None,
            within_ms=_within(step.within),
            defines=tuple(_named(item) for item in step.define),
            measures=tuple(_named(item) for item in step.measures),
        ),
        step.span,
    )
    return result, Scope.of(result.schema, alias(scope))


def _column(node: Node, name: decl.Text) -> Field:
    Scope.of(node.schema).resolve((name.value,), name.span)
    field = node.schema.get(name.value)
    assert field is not None  # resolved above
    return field


def _within(text: decl.Text | None) -> int | None:
    if text is None:
        return None
    milliseconds = duration(text)
    if milliseconds <= 0:
        message, fix = "`within` has to be above zero", "write for example `1 hour`"
        raise DiagnosticError(Diagnostic(codes.WRONG_VALUE, message, text.span, fix=fix))
    return milliseconds


def _named(item: decl.NamedExpression) -> Named:
    assert item.name is not None  # read from a mapping
    return Named(item.name.value, item.name.span, parse_expression(item.expression).tree, item.expression)
