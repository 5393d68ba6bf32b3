"""Which sinks share a query.

Sinks share a query if one stream serves them all: the same reads, the same state, the same trigger, and an
operator (the trunk) through which every row passes on its way to any of them, with nothing stateful behind
it. Sinks that need no state may stand beside one (`chain.beside`). Grouping is sticky: a query that a state
root remembers keeps its sinks, whatever is added later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from compiler.chain.beside import kept_read, put_beside, split
from compiler.chain.layout import LayoutError
from compiler.chain.reasons import Formed, kept_apart, needs_of, spell_trigger, together
from compiler.chain.siblings import Sibling, as_one, can_share, distinct_siblings, fuse
from compiler.chain.trunk import find_trunk
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.jobplan.model import GroupMemory, Manifest
from compiler.plan.logical import BoundSink
from compiler.plan.node import Node, walk
from compiler.plan.operators import LookupTable

_Needs = tuple[frozenset[int], frozenset[int]]


@frozen
class Group:
    """Sinks that will share a query.

    `trunk` is the operator whose rows are the query's stream. `kept` is the read whose rows of an epoch are
    kept for sinks beside the stream, if there are such. `provisional` is True until a state root remembers
    the group. `parallelism` is None where nothing asks for a number of state partitions.
    """

    uid: str
    sinks: tuple[BoundSink, ...]
    trunk: Node
    provisional: bool
    reason: str
    trigger_ms: int | None = None
    parallelism: int | None = None
    kept: Node | None = None


def group_sinks(
    sinks: Sequence[BoundSink],
    manifest: Manifest | None,
    reporter: Reporter,
    *,
    merge_siblings: bool = True,
    read_once: bool = True,
    share_panes: bool = True,
    rechain: bool = False,
) -> tuple[Group, ...]:
    """Groups all sinks; remembered groups come first, in the order in which they were formed.

    Args:
        sinks: of an optimized plan.
        manifest: what the state root remembers.
        reporter: takes what cannot go on as it was.
        merge_siblings: whether window aggregates over one input may become one.
        read_once: whether sinks without state may stand beside one.
        share_panes: whether rows may be put together by panes before they enter the stream.
        rechain: whether queries are formed as if none had run; those that come out as they are go on.
    """
    remembered = manifest.groups if manifest else ()
    if rechain and manifest is not None:
        anew = group_sinks(
            sinks,
            None,
            Reporter(),
            merge_siblings=merge_siblings,
            read_once=read_once,
            share_panes=share_panes,
        )
        formed_again = {frozenset(sink.uid for sink in group.sinks) for group in anew}
        remembered = tuple(memory for memory in remembered if frozenset(memory.sinks) in formed_again)
    by_uid = {sink.uid: sink for sink in sinks}
    groups: list[Group] = []
    there: list[Formed] = []
    placed: set[str] = set()
    for memory in remembered:
        members = [by_uid[uid] for uid in memory.sinks if uid in by_uid]
        placed.update(sink.uid for sink in members)
        if members:
            group = _remembered(memory, members, reporter, share_panes=share_panes)
            if group is not None:
                groups.append(group)
                there.append(Formed(needs_of(members[0]), members, [], remembered=True))
    used = {m.uid for m in manifest.groups} | set(manifest.retired) if manifest else set()
    formed = _alike([sink for sink in sinks if sink.uid not in placed])
    if merge_siblings:
        formed = _merged(formed, share_panes=share_panes)
    if read_once:
        formed = put_beside(formed)
    for one in formed:
        members = as_one(one.sinks, one.siblings, share_panes=share_panes)
        uid = _mint(members[0].uid, used)
        used.add(uid)
        trunk = find_trunk(members)
        if trunk is None:
            reporter.add(_lookup_in_stream(members[0]))
            continue
        apart = kept_apart(one, [*there, *formed])
        groups.append(_group(uid, members, one.beside, trunk, reporter, provisional=True, apart=apart))
    reporter.extend(_without_effect(groups))
    return tuple(groups)


def _group(
    uid: str,
    members: Sequence[BoundSink],
    beside: Sequence[BoundSink],
    trunk: Node,
    reporter: Reporter,
    *,
    provisional: bool,
    apart: str = "",
) -> Group:
    sinks = (*members, *beside)
    return Group(
        uid,
        sinks,
        trunk,
        provisional,
        together(sinks, len(beside)) + apart,
        members[0].trigger_ms,
        _parallelism(uid, members, reporter),
        kept_read(trunk) if beside else None,
    )


def _lookup_in_stream(sink: BoundSink) -> Diagnostic:
    """What is said of a sink whose query can have no trunk, which only a lookup join does."""
    tables = [f"`{node.uid}`" for node in walk(sink.node) if isinstance(node, LookupTable)]
    return Diagnostic(
        codes.LOOKUP_BELOW_STATE,
        f"sink `{sink.name}` unites rows for which {' and '.join(tables)} was looked up "
        "with rows of another stream or state",
        sink.span,
        cause="a lookup runs on what leaves the query's stream, and these rows are only united there",
        fix="look up behind the union, or write the rows by sinks of their own",
    )


def _parallelism(uid: str, members: Sequence[BoundSink], reporter: Reporter) -> int | None:
    """The number of state partitions that a group asks for; HR226 if that is several."""
    if not _keeps_state(members):
        return None
    asked = {sink.parallelism.value: sink.parallelism for sink in members if sink.parallelism is not None}
    first, *others = asked.values() or (None,)
    if first is not None and others:
        reporter.add(
            Diagnostic(
                codes.CONFLICTING_OPTIONS,
                f"query `{uid}` cannot have {' and '.join(map(str, sorted(asked)))} state partitions",
                others[0].place,
                cause=f"sinks {', '.join(f'`{sink.name}`' for sink in members)} share one read and one state",
                fix="say one number, or give a sink another `trigger`: then it is a query of its own",
                related=(Label(first.place, "another number here"),),
            )
        )
    return first.value if first is not None else None


def _keeps_state(members: Sequence[BoundSink]) -> bool:
    return any(node.is_stateful for node in walk(*(sink.node for sink in members)))


def _without_effect(groups: Sequence[Group]) -> Iterator[Diagnostic]:
    """HR124 for a `parallelism` that is asked of sinks without state alone."""
    asked: dict[Span, list[tuple[str, BoundSink]]] = {}
    for group in groups:
        for sink in group.sinks:
            if sink.parallelism is not None:
                asked.setdefault(sink.parallelism.place, []).append((group.uid, sink))
    for place, of in asked.items():
        if not _keeps_state([sink for _, sink in of]):
            uid, sink = of[0]
            yield Diagnostic(
                codes.OPTION_WITHOUT_EFFECT,
                "`parallelism` has no effect",
                place,
                cause=f"sink `{sink.name}` of query `{uid}` needs no state, and its rows stay in the tasks "
                "that read them: one for a partition of a topic, or a part of a file",
                fix="give it to a model with chain = 'never', whose rows are handed to so many tasks",
            )


def _merged(formed: Sequence[Formed], *, share_panes: bool) -> list[Formed]:
    """Groups whose aggregates are siblings, put together to stand over one fused aggregate."""
    pools: list[Formed] = []
    for one in formed:
        siblings = distinct_siblings(one.sinks) or []
        joins = (pool for pool in pools if siblings and _joins(pool, one.sinks, siblings, share_panes))
        home = next(joins, None)
        if home is None:
            pools.append(replace(one, sinks=list(one.sinks), siblings=siblings))
        else:
            home.sinks.extend(one.sinks)
            home.siblings.extend(siblings)
    return pools


def _joins(
    pool: Formed,
    members: Sequence[BoundSink],
    siblings: Sequence[Sibling],
    share_panes: bool,
) -> bool:
    first = pool.sinks[0]
    asked = {s.parallelism.value for s in (*pool.sinks, *members) if s.parallelism is not None}
    return (
        bool(pool.siblings)
        and (first.trigger_ms, first.isolated) == (members[0].trigger_ms, members[0].isolated)
        and len(asked) < 2
        and can_share([*pool.siblings, *siblings], share_panes=share_panes)
    )


def _as_remembered(
    memory: GroupMemory, members: list[BoundSink], reporter: Reporter, *, share_panes: bool
) -> list[BoundSink] | None:
    """The sinks over the fused aggregate that their state was written by, if it was."""
    layout = next((state.layout for state in memory.state if state.layout), ())
    if not layout:
        return members
    siblings = distinct_siblings(members)
    cause = "one of their aggregates has another form now"
    if siblings and all(s.input is siblings[0].input for s in siblings):
        try:
            return list(fuse(members, siblings, layout, share_panes=share_panes))
        except LayoutError as error:
            cause = str(error)
    names = ", ".join(f"`{sink.name}`" for sink in members)
    reporter.add(
        Diagnostic(
            codes.STATE_INCOMPATIBLE,
            f"the state of query `{memory.uid}`, which {names} share, cannot be read any more",
            members[0].span,
            cause=cause,
            fix="undo the change, or run with --full-refresh",
        )
    )
    return None


def _remembered(
    memory: GroupMemory, members: list[BoundSink], reporter: Reporter, *, share_panes: bool
) -> Group | None:
    stateful, beside = split(members)
    fused = _as_remembered(memory, stateful, reporter, share_panes=share_panes)
    if fused is None:
        return None
    trunk = find_trunk(fused)
    if trunk is None or not _stands_as(memory, stateful, beside) or (beside and kept_read(trunk) is None):
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
    triggers = {sink.trigger_ms: sink for sink in members}
    if len(triggers) > 1:
        changed = members[-1]
        reporter.add(
            Diagnostic(
                codes.CONFLICTING_OPTIONS,
                f"sinks of query `{memory.uid}` have different triggers now",
                changed.span,
                cause="they share a query in the state root, and a query has one trigger: "
                + ", ".join(f"`{sink.name}` {spell_trigger(ms)}" for ms, sink in triggers.items()),
                fix="give them one trigger, or give one of them another `uid` and place: it begins anew",
            )
        )
        return None
    return _group(memory.uid, fused, beside, trunk, reporter, provisional=False)


def _stands_as(memory: GroupMemory, stateful: Sequence[BoundSink], beside: Sequence[BoundSink]) -> bool:
    """Whether each sink needs the state, or none of it, as it did when the query was formed."""
    needs_none = set(memory.beside)
    if beside or _keeps_state(stateful):
        return needs_none.isdisjoint(s.uid for s in stateful) and needs_none.issuperset(s.uid for s in beside)
    return True


def _mint(name: str, used: set[str]) -> str:
    """A uid that no query of this state root has or had."""
    if name not in used:
        return name
    number = 2
    while f"{name}-{number}" in used:
        number += 1
    return f"{name}-{number}"


def _alike(sinks: Iterable[BoundSink]) -> list[Formed]:
    """Sinks with equal reads, state, trigger and isolation, as far as they have a common trunk."""
    found: dict[tuple[_Needs, int | None, frozenset[str]], list[list[BoundSink]]] = {}
    order: list[Formed] = []
    for sink in sinks:
        needs = needs_of(sink)
        candidates = found.setdefault((needs, sink.trigger_ms, sink.isolated), [])
        home = next((group for group in candidates if find_trunk([*group, sink]) is not None), None)
        if home is None:
            home = []
            candidates.append(home)
            order.append(Formed(needs, home, []))
        home.append(sink)
    return order
