"""Adds columns."""

from __future__ import annotations

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry


class DeriveStep(Step, frozen=True):
    """Adds columns, or replaces those of the same name."""

    items: tuple[NamedExpression, ...]


def read_derive(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `derive: {name: expression}`."""
    # A list keeps an order that a mapping keeps as well; both are taken.
    is_list = entry.node.id == "sequence"
    items = reader.named(entry.node, "`derive`", lists=is_list)
    for item in items:
        if item.name is None:
            reader.scope.error(
                WRONG_VALUE,
                "a derived column needs a name",
                item.expression.span(),
                fix="write `name: expression`",
            )
    items = tuple(i for i in items if i.name is not None)
    return DeriveStep(span, items) if items else None
