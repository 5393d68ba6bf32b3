"""Which operator gives the rows of a query's stream."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.plan.logical import BoundSink
from compiler.plan.node import Node, walk
from compiler.plan.operators import LookupJoin


def find_trunk(sinks: Sequence[BoundSink]) -> Node | None:
    """The lowest operator through which all rows of all sinks pass, with nothing stateful behind it.

    If an operator above it has two consumers, the trunk is moved up to where the ways part: a stream
    that is read once and used twice is persisted once, instead of being read twice. So it is above a lookup
    join.

    Returns:
        The trunk, or None if the sinks have none.
    """
    roots = [sink.node for sink in sinks]
    stream = [node for node in walk(*roots) if node.is_stream]
    consumers = _consumers(stream, roots)
    dominators = _Dominators(stream)
    behind = _stateful_behind(stream)
    lowest = dominators.common([id(root) for root in roots])
    for node in stream:
        if lowest is not None and consumers[id(node)] > 1 and not behind[id(node)]:
            moved = dominators.common([lowest, id(node)])
            # With state behind, it cannot be the trunk: Spark runs what is above twice.
            if moved is not None and not behind[moved]:
                lowest = moved
    for node in stream:
        # A lookup reads its table on the rows of an epoch, so it must stand below the trunk.
        if isinstance(node, LookupJoin) and lowest is not None:
            lowest = dominators.common([lowest, id(node.stream)])
    if lowest is not None and behind[lowest]:
        return None
    return dominators.node(lowest)


def _consumers(stream: Sequence[Node], roots: Sequence[Node]) -> dict[int, int]:
    """How many operators and sinks take rows from each operator."""
    counts = {id(node): 0 for node in stream}
    for node in stream:
        for child in node.inputs:
            if id(child) in counts:
                counts[id(child)] += 1
    for root in roots:
        counts[id(root)] += 1
    return counts


def _stateful_behind(stream: Sequence[Node]) -> dict[int, bool]:
    """For each operator whether a stateful one reads, directly or not, what it gives."""
    behind = {id(node): False for node in stream}
    for node in reversed(stream):
        for child in node.inputs:
            if id(child) in behind and (node.is_stateful or behind[id(node)]):
                behind[id(child)] = True
    return behind


class _Dominators:
    """The dominator tree of a stream, inputs towards the root.

    An operator dominates another if all rows of the other have passed it. Built in one sweep, since the
    operators come inputs first: K. Cooper, T. Harvey, K. Kennedy, "A Simple, Fast Dominance Algorithm",
    2001, where one pass is enough for a graph without cycles.
    """

    def __init__(self, stream: Sequence[Node]) -> None:
        self._nodes = {id(node): node for node in stream}
        self._above: dict[int, int | None] = {}
        self._depth: dict[int, int] = {}
        for node in stream:
            inputs = [id(child) for child in node.inputs if id(child) in self._nodes]
            above = self.common(inputs) if inputs else None
            self._above[id(node)] = above
            self._depth[id(node)] = 0 if above is None else self._depth[above] + 1

    def node(self, key: int | None) -> Node | None:
        """The operator of a key."""
        return None if key is None else self._nodes[key]

    def common(self, keys: Sequence[int]) -> int | None:
        """The lowest operator that dominates all of them, or None."""
        found: int | None = keys[0]
        for key in keys[1:]:
            other: int | None = key
            while found != other:
                if found is None or other is None:
                    return None
                if self._depth[found] >= self._depth[other]:
                    found = self._above[found]
                else:
                    other = self._above[other]
        return found
