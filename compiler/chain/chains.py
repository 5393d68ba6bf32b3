"""Operator chains of a query: operators joined by forward edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.jobplan.model import Chain, Exchange
from compiler.plan.node import Node


def build_chains(
    nodes: Sequence[Node], ids: Mapping[int, str]
) -> tuple[tuple[Chain, ...], tuple[Exchange, ...]]:
    """Chains and the exchanges between them.

    As in Flink, an operator joins the chain of its input if it has one input and the edge is forward;
    fan-out does not break a chain, unions and exchanges do. A broadcast side is no second input in this
    sense: the stream goes on in its chain.

    Args:
        nodes: operators of a query, inputs first.
        ids: their ids in the job plan, by identity.
    """
    home: dict[int, int] = {}
    members: list[list[str]] = []
    edges: list[tuple[int, int, str, tuple[str, ...]]] = []
    for node in nodes:
        forward = [child for i, child in enumerate(node.inputs) if node.edge_from(i) == "forward"]
        if len(forward) == 1:
            home[id(node)] = home[id(forward[0])]
            members[home[id(node)]].append(ids[id(node)])
        else:
            home[id(node)] = len(members)
            members.append([ids[id(node)]])
        for index, child in enumerate(node.inputs):
            kind = node.edge_from(index)
            if kind != "forward":
                edges.append((home[id(child)], home[id(node)], kind, node.edge_keys(index)))
    chains = tuple(Chain(f"c{i}", tuple(ops)) for i, ops in enumerate(members, 1))
    exchanges = tuple(
        Exchange(f"c{source + 1}", f"c{target + 1}", kind, keys if kind == "hash" else ())  # type: ignore[arg-type]  # an EdgeKind but forward
        for source, target, kind, keys in edges
    )
    return chains, exchanges
