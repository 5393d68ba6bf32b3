"""Forward fusion: a model that only other models or sinks read is never materialised."""

from __future__ import annotations

from compiler.plan.logical import LogicalPlan, sink_nodes
from compiler.plan.node import Node, rewrite
from compiler.plan.operators import Boundary


def fuse_models(plan: LogicalPlan) -> LogicalPlan:
    """Takes model boundaries out, so that the operators on both sides stand next to each other."""

    def without_boundary(node: Node) -> Node:
        return node.input if isinstance(node, Boundary) else node

    return plan.with_sink_nodes(rewrite(sink_nodes(plan), without_boundary))
