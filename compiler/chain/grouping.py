"""Which sinks share a query.

Sinks share a query if one stream serves them all: the same reads, the same state, and an operator (the
trunk) through which every row passes on its way to any of them, with nothing stateful behind it. Grouping
is sticky: a query that a state root remembers keeps its sinks, whatever is added later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.jobplan.model import GroupMemory, Manifest
from compiler.plan.logical import BoundSink
from compiler.plan.node import Node, walk
from compiler.plan.operators import Scan


@dataclass(frozen=True)
class Group:
    """Sinks that will share a query.

    `trunk` is the operator whose rows are the query's stream. `provisional` is True until a state root
    remembers the group.
    """

    uid: str
    sinks: tuple[BoundSink, ...]
    trunk: Node
    provisional: bool
    reason: str


def group_sinks(
    sinks: Sequence[BoundSink], manifest: Manifest | None, reporter: Reporter
) -> tuple[Group, ...]:
    """Groups all sinks; remembered groups come first, in the order in which they were formed."""
    remembered = manifest.groups if manifest else ()
    by_name = {sink.name: sink for sink in sinks}
    groups: list[Group] = []
    placed: set[str] = set()
    for memory in remembered:
        members = [by_name[name] for name in memory.sinks if name in by_name]
        placed.update(sink.name for sink in members)
        if members:
            group = _remembered(memory, members, reporter)
            if group is not None:
                groups.append(group)
    used = {memory.uid for memory in remembered} | set(manifest.retired if manifest else ())
    for members in _alike([sink for sink in sinks if sink.name not in placed]):
        uid = _mint(members[0].name, used)
        used.add(uid)
        trunk = find_trunk(members)
        assert trunk is not None
        groups.append(Group(uid, tuple(members), trunk, True, _reason(members)))
    return tuple(groups)


def _remembered(memory: GroupMemory, members: list[BoundSink], reporter: Reporter) -> Group | None:
    trunk = find_trunk(members)
    if trunk is None:
        names = ", ".join(f"`{sink.name}`" for sink in members)
        reporter.add(
            Diagnostic(
                codes.STATE_INCOMPATIBLE,
                f"sinks {names} share query `{memory.uid}` in the state root, but can no longer share one",
                members[0].span,
                cause="one of them now needs state or a read of its own, and a query has one state",
                fix="rename the sink that changed and give it a new path, or run with --full-refresh",
            )
        )
        return None
    return Group(memory.uid, tuple(members), trunk, False, _reason(members))


def _mint(name: str, used: set[str]) -> str:
    """A uid that no query of this state root has or had."""
    if name not in used:
        return name
    number = 2
    while f"{name}-{number}" in used:
        number += 1
    return f"{name}-{number}"


def _alike(sinks: Iterable[BoundSink]) -> list[list[BoundSink]]:
    """Sinks with equal reads and state, as far as they have a common trunk."""
    found: dict[tuple[frozenset[int], ...], list[list[BoundSink]]] = {}
    order: list[list[BoundSink]] = []
    for sink in sinks:
        nodes = list(walk(sink.node))
        reads = frozenset(id(node) for node in nodes if isinstance(node, Scan))
        state = frozenset(id(node) for node in nodes if node.is_stateful)
        candidates = found.setdefault((reads, state), [])
        home = next((group for group in candidates if find_trunk([*group, sink]) is not None), None)
        if home is None:
            home = []
            candidates.append(home)
            order.append(home)
        home.append(sink)
    return order


def _reason(members: Sequence[BoundSink]) -> str:
    nodes = list(walk(*(sink.node for sink in members)))
    reads = " and ".join(node.uid for node in nodes if isinstance(node, Scan))
    state = [node.uid for node in nodes if node.is_stateful]
    if len(members) > 1:
        return f"{len(members)} sinks share one read of {reads}"
    return (
        f"alone: it keeps state of its own ({', '.join(state)})"
        if state
        else f"alone: nothing else reads {reads} alike"
    )


def find_trunk(sinks: Sequence[BoundSink]) -> Node | None:
    """The lowest operator through which all rows of all sinks pass, with nothing stateful behind it.

    If an operator above it has two consumers, the trunk is moved up to where the ways part: a stream
    that is read once and used twice is persisted once, instead of being read twice.

    Returns:
        The trunk, or None if the sinks have none.
    """
    roots = [sink.node for sink in sinks]
    stream = [node for node in walk(*roots) if node.is_stream]
    consumers = _consumers(stream, roots)
    dominators = _Dominators(stream)
    behind = _stateful_behind(stream)
    lowest = dominators.common([id(root) for root in roots])
    parting = next((node for node in stream if consumers[id(node)] > 1 and not behind[id(node)]), None)
    if lowest is not None and parting is not None:
        lowest = dominators.common([lowest, id(parting)]) or lowest
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
