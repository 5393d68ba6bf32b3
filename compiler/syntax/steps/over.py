"""Computes over the rows before each."""

from __future__ import annotations

from typing import Any, Final, Literal

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.steps.sorting import read_order
from compiler.syntax.yaml_nodes import Entry

_FRAMES: Final = ("rows", "range")


class OverStep(Step, frozen=True):
    """Adds `functions` over the frame that reaches `preceding` back; None is all rows before.

    `preceding` is a number of rows, or the text of a duration.
    """

    by: tuple[NamedExpression, ...]
    order: tuple[Fragment, ...]
    unit: Literal["rows", "range"]
    preceding: int | Text | None
    functions: tuple[NamedExpression, ...]


def read_over(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `over: {by: [keys], order_by: time, range: 1 hour, name: sum(amount)}`."""
    if entry.node.id != "mapping":
        reader.yaml.wrong(
            entry.node, "`over`", "a mapping", fix="write `order_by: time` and `name: expression`"
        )
        return None
    given = {e.key.value: e for e in reader.yaml.entries(entry.node, "`over`")}
    words = {k: given.pop(k) for k in ("by", "order_by", *_FRAMES) if k in given and not given[k].key.quoted}
    if "order_by" not in words:
        reader.yaml.missing(entry.node, "`over`", "order_by")
        return None
    if all(frame in words for frame in _FRAMES):
        reader.yaml.wrong(words["rows"].node, "`over`", "either `rows` or `range`")
        return None
    by = reader.named(words["by"].node, "`by`", lists=True) if "by" in words else ()
    order = read_order(reader, words["order_by"].node, "`order_by`")
    functions = [
        NamedExpression(e.key, found)
        for e in given.values()
        if (found := reader.expression(e.node, f"`{e.key.value}` of `over`")) is not None
    ]
    unit: Literal["rows", "range"] = "rows" if "rows" in words else "range"
    preceding: int | Text | None = None
    if unit in words:
        text = reader.yaml.text(words[unit].node, f"`{unit}`")
        if text is None:
            return None
        preceding = _preceding(reader, words[unit].node, unit, text)
        if preceding is None and text.value != "unbounded":
            return None
    return OverStep(span, by, order, unit, preceding, tuple(functions)) if order else None


def _preceding(reader: StepReader, node: Any, unit: str, text: Text) -> int | Text | None:
    if text.value == "unbounded":
        return None
    if unit == "range":
        return reader.yaml.duration(node, "`range`")
    if text.value.isdecimal():
        return int(text.value)
    reader.yaml.wrong(node, "`rows`", "a number of rows, or `unbounded`")
    return None
