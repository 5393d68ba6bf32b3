"""`order_by:` of a step: items as SQL writes them."""

from __future__ import annotations

from typing import Any

from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader


def read_order(reader: StepReader, node: Any, what: str) -> tuple[Fragment, ...]:
    """`order_by: price desc`, or a list of such items."""
    nodes = [node] if node.id == "scalar" else reader.yaml.items(node, what)
    found = [reader.expression(item, f"an item of {what}") for item in nodes]
    return tuple(item for item in found if item is not None)
