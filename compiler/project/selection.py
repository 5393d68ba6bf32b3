"""`--select`: a part of a project by names.

    revenue            by name, without regard to case
    revenue_*          by a glob
    +revenue           and all that it reads, directly or not; 1+revenue: one step up
    revenue+           and all that reads it; revenue+1: one step down

Commas and spaces both stand between alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from compiler.diagnostics.codes import NOTHING_SELECTED
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.source import SourceFile, Span
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import Node

Kind = Literal["source", "seed", "model", "sink"]

_TERM = re.compile(r"(?P<up>(?P<steps_up>\d*)\+)?(?P<name>[^+]+)(?P<down>\+(?P<steps_down>\d*))?")
_WORD = re.compile(r"[^\s,]+")


@dataclass(frozen=True)
class Graph:
    """What there is by name, and what each reads directly. Both are in the order of the plan."""

    kinds: Mapping[str, Kind]
    reads: Mapping[str, tuple[str, ...]]

    def read_by(self) -> dict[str, tuple[str, ...]]:
        """The same edges, the other way round."""
        found: dict[str, list[str]] = {name: [] for name in self.kinds}
        for name, inputs in self.reads.items():
            for other in inputs:
                found[other].append(name)
        return {name: tuple(names) for name, names in found.items()}


@dataclass(frozen=True)
class Selection:
    """A part of a project.

    Args:
        names: all that was selected, with their spelling.
        sinks: the sinks to run for it: those that were named, and those behind the other named ones. What
            a sink reads comes along anyway, so the `+` of `+name` adds none.
    """

    names: frozenset[str]
    sinks: frozenset[str]


def graph_of(plan: LogicalPlan) -> Graph:
    """The graph of a bound project."""
    at = {id(relation.node): relation.name for relation in plan.relations}
    kinds: dict[str, Kind] = {}
    reads: dict[str, tuple[str, ...]] = {}
    for relation in plan.relations:
        kinds[relation.name] = relation.kind
        reads[relation.name] = () if relation.kind != "model" else _named(relation.node.inputs, at)
    for sink in plan.sinks:
        kinds[sink.name] = "sink"
        reads[sink.name] = _named((sink.node,), at)
    return Graph(kinds, reads)


def select(graph: Graph, texts: Collection[str], reporter: Reporter) -> Selection:
    """What the values of `--select` choose; none at all choose everything.

    A term that matches nothing is an error: a typing mistake must not run less than was meant.
    """
    text = " ".join(texts)
    words = list(_WORD.finditer(text))
    if not words:
        if texts:
            reporter.add(
                Diagnostic(NOTHING_SELECTED, "`--select` is empty", fix="name something, or leave it out")
            )
        names = frozenset(graph.kinds)
        return Selection(names, frozenset(n for n in names if graph.kinds[n] == "sink"))
    file = SourceFile("--select", text)
    read_by = graph.read_by()
    chosen: set[str] = set()
    sinks: set[str] = set()
    for word in words:
        term = _TERM.fullmatch(word.group())
        pattern = (term["name"] if term else word.group()).lower()
        named = [name for name in graph.kinds if fnmatchcase(name.lower(), pattern)]
        if term is None or not named:
            reporter.add(_nothing(word, file, pattern, graph))
            continue
        chosen.update(named)
        if term["up"]:
            chosen |= _reach(named, graph.reads, term["steps_up"])
        if term["down"]:
            chosen |= _reach(named, read_by, term["steps_down"])
        behind = _reach(named, read_by, "")
        sinks.update(name for name in behind if graph.kinds[name] == "sink")
    return Selection(frozenset(chosen), frozenset(sinks))


def _named(nodes: Iterable[Node], at: Mapping[int, str]) -> tuple[str, ...]:
    """The nearest relations above some operators, in the order in which they are read."""
    found: dict[str, None] = {}
    seen: set[int] = set()
    # A stack of its own: a query may be deeper than Python's recursion limit.
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if id(node) in at:
            found[at[id(node)]] = None
        else:
            stack.extend(reversed(node.inputs))
    return tuple(found)


def _reach(names: Iterable[str], edges: Mapping[str, tuple[str, ...]], steps: str) -> set[str]:
    """The names and what can be reached from them, in so many steps or in any number."""
    found = set(names)
    edge = set(found)
    left = int(steps) if steps else len(edges)
    while edge and left > 0:
        edge = {other for name in edge for other in edges.get(name, ())} - found
        found |= edge
        left -= 1
    return found


def _nothing(word: re.Match[str], file: SourceFile, pattern: str, graph: Graph) -> Diagnostic:
    fix = did_you_mean(pattern, graph.kinds)
    if fix is None:
        fix = f"there is {one_of(sorted(graph.kinds))}" if graph.kinds else "the project declares nothing"
    cause = None
    if ":" in pattern:
        cause = "only names and globs are understood, no methods such as `tag:`"
    return Diagnostic(
        NOTHING_SELECTED,
        f"`{word.group()}` selects nothing",
        Span(file, word.start(), word.end()),
        cause=cause,
        fix=fix,
    )
