"""Unites relations."""

from __future__ import annotations

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Step, Text
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry


class UnionStep(Step, frozen=True):
    """UNION ALL with other relations, by position."""

    others: tuple[Text, ...]

    @property
    def relations(self) -> tuple[Text, ...]:
        """All inputs but the first."""
        return self.others


def read_union(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `union: [relations]`."""
    names = tuple(reader.yaml.relation(t) for t in reader.yaml.texts(entry.node, "`union`"))
    if not names and entry.node.id == "sequence" and not entry.node.value:
        reader.scope.error(WRONG_VALUE, "`union` names nothing", reader.yaml.span(entry.node))
    return UnionStep(span, names) if names else None
