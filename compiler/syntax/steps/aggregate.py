"""Groups rows."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry


@dataclass(frozen=True, slots=True)
class AggregateStep(Step):
    """Groups. After a window, window_start and window_end are keys too and come first."""

    by: tuple[NamedExpression, ...]
    aggregates: tuple[NamedExpression, ...]


def read_aggregate(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `aggregate: {by: [keys], name: aggregate}`."""
    if entry.node.id != "mapping":
        reader.yaml.wrong(
            entry.node, "`aggregate`", "a mapping", fix="write `by: [key]` and `name: expression` lines"
        )
        return None
    by: tuple[NamedExpression, ...] = ()
    aggregates: list[NamedExpression] = []
    for inner in reader.yaml.entries(entry.node, "`aggregate`"):
        if inner.key.value == "by" and not inner.key.quoted:
            if not reader.yaml.is_null(inner.node):
                by = reader.named(inner.node, "`by`", lists=True)
            continue
        expression = reader.expression(inner.node, f"`{inner.key.value}` of `aggregate`")
        if expression is not None:
            aggregates.append(NamedExpression(inner.key, expression))
    return AggregateStep(span, by, tuple(aggregates))
