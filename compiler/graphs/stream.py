"""The stream graph: operators and edges as the user wrote them."""

from __future__ import annotations

from collections.abc import Collection

from compiler.graphs.model import Edge, StreamGraph
from compiler.graphs.operators import operator, writer
from compiler.jobplan.lower import lower_sink
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import Node, walk
from compiler.plan.operators import Boundary


def stream_graph(logical: LogicalPlan, sinks: Collection[str] | None = None) -> StreamGraph:
    """The graph of a bound project, of which nothing has been optimized.

    Args:
        logical: the project.
        sinks: uids of the sinks that are of interest, None for all.
    """
    chosen = [sink for sink in logical.sinks if sinks is None or sink.uid in sinks]
    nodes = [n for n in walk(*(sink.node for sink in chosen)) if not isinstance(n, Boundary)]
    edges = [
        Edge(_inside(child).uid, node.uid, node.edge_from(i), _keys(node, i))
        for node in nodes
        for i, child in enumerate(node.inputs)
    ]
    operators = [operator(node, node.describe(), logical.places) for node in nodes]
    for sink in chosen:
        lowered = lower_sink(sink, "")
        operators.append(writer(lowered, str(sink.node.changelog), sink.span))
        edges.append(Edge(_inside(sink.node).uid, f"sink:{sink.uid}", "forward"))
    return StreamGraph(tuple(operators), tuple(dict.fromkeys(edges)))


def _inside(node: Node) -> Node:
    """The operator whose rows a model gives."""
    while isinstance(node, Boundary):
        node = node.input
    return node


def _keys(node: Node, index: int) -> tuple[str, ...]:
    return node.edge_keys(index) if node.edge_from(index) == "hash" else ()
