"""`chain` of a model: where a chain of operators ends although rows could stay where they are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from compiler.analysis.model_options import ModelOptions
from compiler.plan.node import EdgeKind, Node, rewritten, walk
from compiler.plan.operators import Boundary, Rebalance


def with_chain(node: Node, name: str, options: ModelOptions, relations: Iterable[Node]) -> Node:
    """The rows of a model, in chains as it asks for.

    `head` begins a chain of its own: what it reads is handed to other tasks. `never` ends it too, so that
    none of what reads it is in its chain. Rows are moved and not stored.

    Args:
        node: the model's rows.
        name: the model's.
        options: what it asks for.
        relations: what it may have read, as it was bound.
    """
    if options.chain in (None, "always"):
        return node
    partitions = options.parallelism.value if options.parallelism is not None else None
    read = {id(relation) for relation in relations}
    moves = count(1)

    def begun(child: Node, edge: EdgeKind) -> Node:
        # A read that moves its rows anyway needs no second move, nor do small tables.
        if id(child) not in read or edge != "forward" or not child.is_stream or _is_apart(child):
            return child
        return Rebalance(f"{name}.chain_{next(moves)}", child, partitions)

    def own(before: Node, made: Node) -> Node:
        if id(before) in read:
            return before
        inputs = tuple(begun(child, made.edge_from(index)) for index, child in enumerate(made.inputs))
        same = all(new is old for new, old in zip(inputs, made.inputs, strict=True))
        return made if same else made.with_inputs(inputs)

    found = begun(node, "forward") if id(node) in read else rewritten((node,), own)[id(node)]
    if options.chain == "never" and found.is_stream and not isinstance(found, Rebalance):
        found = Rebalance(f"{name}.chain", found, partitions)
    return found


def has_own_tasks(node: Node, options: ModelOptions, relations: Iterable[Node]) -> bool:
    """Whether a model's `parallelism` is the number of its tasks: it has a chain of its own, and no state.

    Args:
        node: the model's rows, as they were bound.
        options: what it asks for.
        relations: what it may have read.
    """
    if options.chain in (None, "always"):
        return False
    read = {id(above) for relation in relations for above in walk(relation)}
    return not any(own.is_stateful for own in walk(node) if id(own) not in read)


def _is_apart(node: Node) -> bool:
    """Whether a model's rows change tasks at its end already."""
    return isinstance(node, Boundary) and isinstance(node.input, Rebalance)
