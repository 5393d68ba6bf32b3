"""Keeps the first rows of each group."""

from __future__ import annotations

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.steps.sorting import read_order
from compiler.syntax.yaml_nodes import Entry


class TopStep(Step, frozen=True):
    """Keeps the first `n` rows of each `by`; `rank` names a column for the row's number."""

    by: tuple[NamedExpression, ...]
    order: tuple[Fragment, ...]
    n: int
    rank: Text | None
    n_span: Span


def read_top(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `top: {by: [keys], order_by: price desc, n: 3, rank: name}`."""
    keys = reader.yaml.mapping(entry.node, "`top`", ("by", "order_by", "n", "rank"), ("order_by", "n"))
    if keys is None or "order_by" not in keys or "n" not in keys:
        return None
    by = reader.named(keys["by"].node, "`by`", lists=True) if "by" in keys else ()
    order = read_order(reader, keys["order_by"].node, "`order_by`")
    number = reader.yaml.text(keys["n"].node, "`n`")
    rank = reader.yaml.text(keys["rank"].node, "`rank`") if "rank" in keys else None
    if not order or number is None or ("rank" in keys and rank is None):
        return None
    if not number.value.isdecimal():
        reader.yaml.wrong(keys["n"].node, "`n`", "a whole number")
        return None
    return TopStep(span, by, order, int(number.value), rank, number.span)
