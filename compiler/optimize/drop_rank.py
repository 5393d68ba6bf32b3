"""The number of a row that nothing reads is not computed."""

from __future__ import annotations

from dataclasses import replace

from compiler.plan.expr import columns_of
from compiler.plan.logical import LogicalPlan, sink_nodes
from compiler.plan.node import Node, rewrite
from compiler.plan.operators import Filter, Project, TopN


def drop_rank(plan: LogicalPlan) -> LogicalPlan:
    """Takes the rank off a Top-N whose row numbers end at the projection above.

    Of changes of several rows it is part of the key, and stays.
    """
    return plan.with_sink_nodes(rewrite(sink_nodes(plan), _changed))


def _changed(node: Node) -> Node:
    if not isinstance(node, Project):
        return node
    above: list[Node] = []
    top: Node = node
    while isinstance(top, (Project, Filter)) and (not above or isinstance(top, Filter)):
        above.append(top)
        top = top.input
    if not isinstance(top, TopN) or top.rank is None or top.rank in top.changelog.key:
        return node
    if any(top.rank in columns_of(expr) for operator in above for expr in operator.expressions):
        return node
    made: Node = replace(top, rank=None)
    for operator in reversed(above):
        made = operator.with_inputs((made,))
    return made
