"""Common sub-plan reuse: two models that compute the same of the same rows are one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Final

from compiler.plan.expr import is_deterministic
from compiler.plan.logical import LogicalPlan, sink_nodes
from compiler.plan.node import Node, rewrite
from compiler.plan.operators import Filter, Generate, Project, SeedJoin, SeedScan, Union, Window

# Those that keep nothing: state goes by the uid of its operator, which two models do not share, and which a
# model that is added must not take from another.
_KINDS: Final = (Filter, Generate, Project, SeedJoin, SeedScan, Union, Window)

# The name, and the inputs, which are compared by what they are.
_APART: Final = frozenset({"uid", "input", "parts", "stream", "table"})


def reuse_subplans(plan: LogicalPlan) -> LogicalPlan:
    """Puts one operator where several do the same over the same inputs; the first one's name stays.

    A source is one operator already, however many read it. What is shared is computed once, and can be the
    trunk of a query.
    """
    known: dict[Hashable, Node] = {}

    def first_alike(node: Node) -> Node:
        key = _computation(node)
        return node if key is None else known.setdefault(key, node)

    return plan.with_sink_nodes(rewrite(sink_nodes(plan), first_alike))


def _computation(node: Node) -> Hashable | None:
    """All that the rows of an operator depend on, or None if it cannot be shared."""
    if not isinstance(node, _KINDS) or not all(is_deterministic(expr) for expr in node.expressions):
        return None
    own = tuple((part.name, getattr(node, part.name)) for part in fields(node) if part.name not in _APART)
    return type(node), own, tuple(id(child) for child in node.inputs)
