"""Whether a query can go on from the state that is there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from compiler.diagnostics.codes import PARALLELISM_FIXED, STATE_INCOMPATIBLE
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.model import GroupMemory, Operator, Query, Scan, State
from compiler.jobplan.operators.base import JobOperator, location

_Way = tuple[JobOperator, ...]

_WAYS_OUT = (
    "undo the change, give the model another name so that it starts anew beside the old one, or run with "
    "--full-refresh, which starts over from the beginning of its sources"
)


def check_state(query: Query, memory: GroupMemory) -> list[Diagnostic]:
    """Differences between the state that was written and the state that the query would read."""
    before = {state.uid: state for state in memory.state}
    now = {state.uid: state for state in query.state}
    if _shape(memory.state) == _shape(query.state) or _needs_none(query, memory):
        return []
    changed = [_changed(before[name], now[name]) for name in now if name in before]
    told = [
        *(text for text in changed if text),
        *(f"{_name(state)} is new" for name, state in now.items() if name not in before),
        *(f"{_name(state)} is gone" for name, state in before.items() if name not in now),
    ] or ["the order of the stateful operators has changed"]
    return [
        Diagnostic(
            STATE_INCOMPATIBLE,
            f"state of query {query.uid} has another shape: {told[0]}",
            cause="; ".join(told[1:]) or None,
            fix=_WAYS_OUT,
        )
    ]


def _needs_none(query: Query, memory: GroupMemory) -> bool:
    """Whether nobody is left who needed the state."""
    return not query.state and all(sink.removed or sink.uid in memory.beside for sink in query.sinks)


def check_reads(query: Query, before: Query) -> list[Diagnostic]:
    """Reads that the query's state would take for others, or for new ones."""
    return _renamed(query, before) + _swapped(query, before) + _other_side(query, before)


def _renamed(query: Query, before: Query) -> list[Diagnostic]:
    """Sources that the state knows under another name: they would be read from their start again."""
    old = {op.read_name: op for op in before.operators if isinstance(op, Scan)}
    new = {op.read_name: op for op in query.operators if isinstance(op, Scan)}
    gone = {key: scan for name, scan in old.items() if name not in new for key in _what(scan)}
    found: list[Diagnostic] = []
    for name, scan in new.items():
        was = next((gone[key] for key in _what(scan) if key in gone), None)
        if name in old or was is None:
            continue
        found.append(
            Diagnostic(
                STATE_INCOMPATIBLE,
                f"query {query.uid} reads source {scan.uid} as {name}, which its state knows as "
                f"{was.read_name}",
                cause="under another name it would be read from its start again, and rows would be doubled",
                fix=f"give the source uid = '{was.uid}' if it has a new name only; or {_WAYS_OUT}"
                if was.uid != scan.uid
                else _WAYS_OUT,
            )
        )
    return found


def _what(scan: Scan) -> tuple[tuple[str, str], ...]:
    """What tells that two reads are of the same: the source, or what it is connected to."""
    place = location(scan.options)
    return (("uid", scan.uid), *([(scan.connector, place)] if place else []))


def _other_side(query: Query, before: Query) -> list[Diagnostic]:
    """Operators whose inputs have changed places: each input has a state of its own, by its place."""
    old, new = _sides(before), _sides(query)
    return [
        Diagnostic(
            STATE_INCOMPATIBLE,
            f"state of query {query.uid} has another shape: the inputs of {uid} have changed places",
            cause="what each has kept is known by its place, and one would take the other's rows for its own",
            fix=_WAYS_OUT,
        )
        for uid, sides in new.items()
        if uid in old and len(old[uid]) == len(sides) and _have_moved(old[uid], sides)
    ]


def _have_moved(old: Sequence[frozenset[str]], new: Sequence[frozenset[str]]) -> bool:
    """Whether a read stands on one side that stood on another only."""
    return any(
        name not in was and any(name in other for other in old)
        for was, side in zip(old, new, strict=True)
        for name in side
    )


def _sides(query: Query) -> dict[str, list[frozenset[str]]]:
    """The reads below each input of the operators that have several and keep state, by the operator's uid."""
    keeping = {state.operator for state in query.state}
    below: dict[str, frozenset[str]] = {}
    found: dict[str, list[frozenset[str]]] = {}
    # Operators are in topological order.
    for op in query.operators:
        sides = [below.get(identity, frozenset()) for identity in op.inputs]
        own = {op.read_name} if isinstance(op, Scan) else set()
        below[op.id] = frozenset(own).union(*sides)
        if len(sides) > 1 and op.id in keeping:
            found[op.uid] = sides
    return found


def _swapped(query: Query, before: Query) -> list[Diagnostic]:
    """Reads of one source that have changed places, or become one: each is as far as what it was read for."""
    old, new = _ways(before), _ways(query)
    return [
        Diagnostic(
            STATE_INCOMPATIBLE,
            f"query {query.uid} reads source {scan.source} more than once, and its reads have changed",
            cause="how far each has come is kept by their order, and they need not have come equally far",
            fix=_WAYS_OUT,
        )
        for name, (scan, way) in new.items()
        if name in old
        and way != old[name][1]
        and (_is_of_another(way, name, scan, old) or _reads(scan, new) < _reads(scan, old))
    ][:1]


def _reads(scan: Scan, ways: dict[str, tuple[Scan, _Way]]) -> int:
    return sum(other.source == scan.source for other, _ in ways.values())


def _is_of_another(way: _Way, name: str, scan: Scan, old: dict[str, tuple[Scan, _Way]]) -> bool:
    return any(
        other.source == scan.source and way == was for read, (other, was) in old.items() if read != name
    )


def _ways(query: Query) -> dict[str, tuple[Scan, _Way]]:
    """What each read's rows go through until they meet others, by the name of the read."""
    below: dict[str, list[Operator]] = {}
    for op in query.operators:
        for above in op.inputs:
            below.setdefault(above, []).append(op)
    found: dict[str, tuple[Scan, _Way]] = {}
    for scan in query.operators:
        if not isinstance(scan, Scan):
            continue
        way: list[JobOperator] = []
        users = below.get(scan.id, [])
        while len(users) == 1 and len(users[0].inputs) == 1:
            way.append(replace(users[0], id="", uid="", inputs=()))
            users = below.get(users[0].id, [])
        found[scan.read_name] = (scan, tuple(way))
    return found


def check_parallelism(query: Query, running: int | None) -> list[Diagnostic]:
    """A warning when the state has another number of partitions than the plan asks for."""
    if not query.state or running is None or running == query.parallelism:
        return []
    return [
        Diagnostic(
            PARALLELISM_FIXED,
            f"query {query.uid} keeps {running} state partitions, not {query.parallelism}",
            cause="the first run fixes the number",
            fix="run with --full-refresh to start over with another number",
        )
    ]


def _shape(states: tuple[State, ...]) -> list[tuple[str, str, tuple[str, ...], str]]:
    # The order counts, since Spark numbers the operators by it. The operator's id within the plan and the
    # sentence for people do not.
    return [(s.uid, s.kind, s.keys, s.fingerprint) for s in states]


def _changed(before: State, now: State) -> str | None:
    if before.keys != now.keys:
        return f"{_name(now)} had keys ({', '.join(before.keys)}), now ({', '.join(now.keys)})"
    if before.kind != now.kind:
        return f"{_name(now)} was {before.kind}, now {now.kind}"
    if before.fingerprint != now.fingerprint:
        return f"{_name(now)} computes something else (aggregates, types or window)"
    return None


def _name(state: State) -> str:
    return f"{state.kind} {state.uid}"
