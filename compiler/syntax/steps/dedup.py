"""Keeps one row of each group."""

from __future__ import annotations

from typing import Final

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.steps.sorting import read_order
from compiler.syntax.yaml_nodes import Entry

KEEP: Final = ("first", "last")


class DedupStep(Step, frozen=True):
    """Keeps the first or the last row of each `by`, in ascending order of `order_by`."""

    by: tuple[NamedExpression, ...]
    order: tuple[Fragment, ...]
    keep: Text | None


def read_dedup(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `dedup: {by: [keys], order_by: column, keep: first}`."""
    keys = reader.yaml.mapping(entry.node, "`dedup`", ("by", "order_by", "keep"), ("by", "order_by"))
    if keys is None or "by" not in keys or "order_by" not in keys:
        return None
    by = reader.named(keys["by"].node, "`by`", lists=True)
    order = read_order(reader, keys["order_by"].node, "`order_by`")
    keep = reader.yaml.text(keys["keep"].node, "`keep`") if "keep" in keys else None
    if not order or ("keep" in keys and keep is None):
        return None
    if keep is not None and keep.value not in KEEP:
        reader.yaml.wrong(keys["keep"].node, "`keep`", "first or last")
        return None
    return DedupStep(span, by, order, keep)
