"""A query's stream as a tree, in which each operator is used once."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from compiler.frozen import frozen
from compiler.plan.node import Node, rewritten, walk


def with_own_reads(roots: tuple[Node, ...], trunk: Node) -> tuple[tuple[Node, ...], Node]:
    """Gives each further use of a streaming operator above the trunk operators of its own, up to the source.

    Spark runs a streaming operator as often as it is used, with a read and a state for each use, and wants a
    name of its own for each read. Here they are told apart, so that checkpoint, `explain` and an ejected
    program have as many operators as run. What is used below the trunk is computed once, from rows of the
    epoch; and a table is read anew wherever it is used.

    Args:
        roots: what the sinks of a query take.
        trunk: the operator that gives the stream's rows.

    Returns:
        Both over the tree: the same objects if it was one.
    """
    uses = Counter(id(child) for node in walk(trunk) for child in node.inputs if child.is_stream)
    if all(count == 1 for count in uses.values()):
        return roots, trunk
    tree = _tree(trunk)
    new = rewritten(roots, lambda node, over: tree if node is trunk else over)
    return tuple(new[id(root)] for root in roots), tree


@frozen
class _Visit:
    """An operator on the way down, and what stands for its inputs as far as they were visited."""

    node: Node
    inputs: list[Node] = field(default_factory=list)


def _tree(trunk: Node) -> Node:
    numbers: Counter[str] = Counter()
    # A stack of its own, since plans are deeper than Python's recursion limit.
    stack = [_Visit(trunk)]
    while True:
        visit = stack[-1]
        node = visit.node
        if len(visit.inputs) < len(node.inputs):
            child = node.inputs[len(visit.inputs)]
            if child.is_stream:
                stack.append(_Visit(child))
            else:
                visit.inputs.append(child)
            continue
        stack.pop()
        numbers[node.uid] += 1
        same = all(a is b for a, b in zip(visit.inputs, node.inputs, strict=True))
        made = node if same else node.with_inputs(tuple(visit.inputs))
        if numbers[node.uid] > 1:
            made = made.copied(numbers[node.uid])
        if not stack:
            return made
        stack[-1].inputs.append(made)
