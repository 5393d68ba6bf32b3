"""Why sinks share a query, and why they do not, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final

from compiler.chain.siblings import MOST_WINDOWS, Sibling
from compiler.frozen import frozen
from compiler.jobplan.durations import format_ms
from compiler.plan.logical import BoundSink
from compiler.plan.node import Node, walk
from compiler.plan.operators import FusedAggregate, Panes, Scan

# Beyond these, names are counted.
_TOLD: Final = 2


@frozen
class Formed:
    """Sinks that go into one query.

    Args:
        needs: their reads and their stateful operators, by identity.
        sinks: in order.
        siblings: their aggregates, if all of them are such that can be merged.
        remembered: whether a state root has formed the query.
        beside: sinks without state, for which it keeps the rows that an epoch has read.
    """

    needs: tuple[frozenset[int], frozenset[int]]
    sinks: list[BoundSink]
    siblings: list[Sibling]
    remembered: bool = False
    beside: list[BoundSink] = field(default_factory=list)


def needs_of(sink: BoundSink) -> tuple[frozenset[int], frozenset[int]]:
    """The reads and the stateful operators of a sink, by identity."""
    nodes = list(walk(sink.node))
    reads = frozenset(id(node) for node in nodes if isinstance(node, Scan))
    return reads, frozenset(id(node) for node in nodes if node.is_stateful)


def together(members: Sequence[BoundSink], beside: int = 0) -> str:
    """What the sinks of a query share; the last ones of them, `beside` by number, stand beside its state."""
    nodes = list(walk(*(sink.node for sink in members)))
    reads = " and ".join(node.uid for node in nodes if isinstance(node, Scan))
    state = [node for node in nodes if node.is_stateful]
    merged = next((len(node.branches) for node in state if isinstance(node, FusedAggregate)), 0)
    if len(members) > 1:
        kept = f", one state of {merged} merged aggregates" if merged > 1 else ""
        if state and not kept:
            kept = f", one state ({_named(state[0])})" if len(state) == 1 else f", {len(state)} states"
        rows = ", ".join(f"`{sink.name}`" for sink in members[len(members) - beside :])
        kept += f"; what an epoch reads is kept for {rows} beside it" if beside else ""
        return f"{len(members)} sinks share one read of {reads}{kept}{_ahead(nodes)}"
    if state:
        return f"alone: it keeps state of its own ({', '.join(map(_named, state))}){_ahead(nodes)}"
    return f"alone: nothing else reads {reads} alike"


def _named(node: Node) -> str:
    """A state by the aggregate that the user wrote, if it is one."""
    return node.branches[0].uid if isinstance(node, FusedAggregate) and len(node.branches) == 1 else node.uid


def _ahead(nodes: Sequence[Node]) -> str:
    panes = next((node for node in nodes if isinstance(node, Panes) and node.ahead), None)
    if panes is None:
        return ""
    lengths = " and ".join(group.describe() for group in panes.groups)
    return f"; an epoch's rows are put together before they enter the stream, in panes of {lengths}"


def kept_apart(own: Formed, all_formed: Sequence[Formed]) -> str:
    """Why a query does not run the sinks of others that read what it reads; empty if none does."""
    others = [other for other in all_formed if other is not own and other.needs[0] & own.needs[0]]
    by_cause: dict[str, list[str]] = {}
    for other in others:
        by_cause.setdefault(_cause(own, other), []).append(f"`{other.sinks[0].name}`")
    return "".join(f"; kept apart from {_list(names)}: {cause}" for cause, names in by_cause.items())


def _list(names: Sequence[str]) -> str:
    more = len(names) - _TOLD
    return " and ".join(names) if more <= 0 else f"{', '.join(names[:_TOLD])} and {more} more"


def _cause(own: Formed, other: Formed) -> str:
    first, another = own.sinks[0], other.sinks[0]
    if first.isolated != another.isolated:
        names = " and ".join(f"`{name}`" for name in sorted(first.isolated ^ another.isolated))
        return f"isolation of {names}"
    if first.trigger_ms != another.trigger_ms:
        return (
            f"different trigger ({spell_trigger(first.trigger_ms)}, not {spell_trigger(another.trigger_ms)})"
        )
    if other.remembered:
        return "its query has run already, and stays as it is"
    if own.needs[0] != other.needs[0]:
        return "it reads other sources besides"
    if bool(own.needs[1]) != bool(other.needs[1]):
        return "only one of them keeps state, and what is read of this source is not kept for both"
    if own.siblings and other.siblings:
        return _siblings(own, other)
    return "another state" if own.needs[1] else "their rows have no way in common"


def _siblings(own: Formed, other: Formed) -> str:
    """Why window aggregates were not merged."""
    together = [*own.siblings, *other.siblings]
    asked = {s.parallelism.value for s in (*own.sinks, *other.sinks) if s.parallelism is not None}
    if len(asked) > 1:
        return f"other numbers of state partitions ({' and '.join(map(str, sorted(asked)))})"
    windows = sum(sibling.windows for sibling in together)
    if windows > MOST_WINDOWS:
        return f"merged, each row would be copied to {windows} windows, and {MOST_WINDOWS} cost a second read"
    return "their windows are over other rows"


def spell_trigger(trigger_ms: int | None) -> str:
    """A trigger in words."""
    return "available now" if trigger_ms is None else f"every {format_ms(trigger_ms)}"
