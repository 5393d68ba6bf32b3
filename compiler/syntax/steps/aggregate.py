"""Groups rows."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

SetsKind = Literal["rollup", "cube", "grouping_sets"]
_SETS: Final[dict[str, SetsKind]] = {"rollup": "rollup", "cube": "cube", "grouping_sets": "grouping_sets"}


class SetsOfKeys(Struct, frozen=True):
    """`rollup: [a, [b, c]]`, `cube` or `grouping_sets: [[a], []]`: each part is one key or several."""

    kind: SetsKind
    parts: tuple[tuple[NamedExpression, ...], ...]


class AggregateStep(Step, frozen=True):
    """Groups. After a window, window_start and window_end are keys too and come first."""

    by: tuple[NamedExpression, ...]
    sets: tuple[SetsOfKeys, ...]
    aggregates: tuple[NamedExpression, ...]


def read_aggregate(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `aggregate: {by: [keys], rollup: [keys], name: aggregate}`."""
    if entry.node.id != "mapping":
        reader.yaml.wrong(
            entry.node, "`aggregate`", "a mapping", fix="write `by: [key]` and `name: expression` lines"
        )
        return None
    by: tuple[NamedExpression, ...] = ()
    sets: list[SetsOfKeys] = []
    aggregates: list[NamedExpression] = []
    for inner in reader.yaml.entries(entry.node, "`aggregate`"):
        if inner.key.value == "by" and not inner.key.quoted:
            if not reader.yaml.is_null(inner.node):
                by = reader.named(inner.node, "`by`", lists=True)
            continue
        # An aggregate may be called so, but none is a list.
        if inner.key.value in _SETS and inner.node.id == "sequence":
            what = f"`{inner.key.value}`"
            parts = tuple(reader.named(part, what, lists=True) for part in inner.node.value)
            sets.append(SetsOfKeys(_SETS[inner.key.value], parts))
            continue
        expression = reader.expression(inner.node, f"`{inner.key.value}` of `aggregate`")
        if expression is not None:
            aggregates.append(NamedExpression(inner.key, expression))
    return AggregateStep(span, by, tuple(sets), tuple(aggregates))
