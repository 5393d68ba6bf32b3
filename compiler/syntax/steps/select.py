"""Chooses columns."""

from __future__ import annotations

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry


class SelectStep(Step, frozen=True):
    """Replaces the columns."""

    items: tuple[NamedExpression, ...]


def read_select(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `select: [columns]` or `select: {name: expression}`."""
    items = reader.named(entry.node, "`select`", lists=True)
    if not items and entry.node.id != "scalar" and not entry.node.value:
        reader.scope.error(WRONG_VALUE, "`select` names no column", reader.yaml.span(entry.node))
    return SelectStep(span, items) if items else None
