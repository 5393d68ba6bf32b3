"""Joins."""

from __future__ import annotations

from typing import cast

from compiler.analysis.joins import AsOf, JoinForm, JoinRequest, join
from compiler.analysis.scope import Scope
from compiler.analysis.steps.binder import Before, Rows, StepsBinder
from compiler.plan.expr import Expr, conjunction
from compiler.plan.node import Node
from compiler.syntax.steps.join import JoinStep


def bind_join(binder: StepsBinder, node: Node, scope: Scope, step: JoinStep, _: Before) -> Rows:
    """`join: {with: relation, on: condition}`, or one of its forms: `join: {interval: {…}}`."""
    relation = binder.catalog.get(step.relation.value, step.relation.span)

    def condition(both: Scope) -> Expr | None:
        given = [(step.on, "on"), (step.time, "time")]
        parts = [binder.condition(text, both, clause) for text, clause in given if text is not None]
        return conjunction(parts) if parts else None

    as_of = None
    if step.as_of is not None:
        text = step.as_of
        as_of = AsOf(lambda left: binder.expression(text, left, "as_of")[0], text.span())
    request = JoinRequest(
        left=node,
        scope=scope,
        right=relation.node,
        name=relation.name,
        kind=step.kind,
        condition=condition,
        span=step.span,
        using=tuple(name.value for name in step.using),
        as_of=as_of,
        form=cast("JoinForm | None", step.form),
    )
    return join(binder.builder, request)
