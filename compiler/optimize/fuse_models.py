"""Forward fusion: a model that only other models or sinks read is never materialised."""

from __future__ import annotations

from compiler.plan.logical import LogicalPlan, sink_nodes
from compiler.plan.node import Node, rewrite
from compiler.plan.operators import Boundary, Rebalance


def fuse_models(plan: LogicalPlan) -> LogicalPlan:
    """Takes model boundaries out, so that the operators on both sides stand next to each other."""

    def without_boundary(node: Node) -> Node:
        return node.input if isinstance(node, Boundary) else node

    return plan.with_sink_nodes(rewrite(sink_nodes(plan), without_boundary))


def part_models(plan: LogicalPlan) -> LogicalPlan:
    """What stands for `fuse_models` where that is off: the rows of each model change tasks at its end.

    They are not stored.
    """

    def parted(node: Node) -> Node:
        if not isinstance(node, Boundary):
            return node
        # What does not stream is broadcast where it is used.
        is_apart = isinstance(node.input, Rebalance) or not node.is_stream
        return node.input if is_apart else Rebalance(f"{node.uid}.chain", node.input)

    return plan.with_sink_nodes(rewrite(sink_nodes(plan), parted))
