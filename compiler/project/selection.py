"""`--select`: a part of a project by names.

    revenue            by name, without regard to case
    revenue_*          by a glob
    tag:money          all that has a tag, which may be a glob as well
    +revenue           and all that it reads, directly or not; 1+revenue: one step up
    revenue+           and all that reads it; revenue+1: one step down

Commas and spaces both stand between alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from compiler.diagnostics.codes import NOTHING_SELECTED
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.source import SourceFile, Span
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.frozen import frozen

if TYPE_CHECKING:
    from compiler.plan.logical import LogicalPlan
    from compiler.plan.node import Node

Kind = Literal["source", "seed", "model", "sink"]

_TERM = re.compile(r"(?P<up>(?P<steps_up>\d*)\+)?(?P<name>[^+]+)(?P<down>\+(?P<steps_down>\d*))?")
_WORD = re.compile(r"[^\s,]+")


@frozen
class Graph:
    """What there is by name, and what each reads directly. Both are in the order of the plan.

    `kept` are models that are also sinks, by `materialized`; `tags` those of each name that has some; `uids`
    those of the sinks by name.
    """

    kinds: Mapping[str, Kind]
    reads: Mapping[str, tuple[str, ...]]
    kept: frozenset[str] = frozenset()
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    uids: Mapping[str, str] = field(default_factory=dict)

    def is_sink(self, name: str) -> bool:
        """Whether rows leave the project there."""
        return self.kinds[name] == "sink" or name in self.kept

    def named(self, pattern: str) -> list[str]:
        """The names that a glob, or `tag:` and a glob, means; `pattern` is in lower case."""
        method, _, rest = pattern.rpartition(":")
        if method == "tag":
            return [n for n, tags in self.tags.items() if any(fnmatchcase(t.lower(), rest) for t in tags)]
        return [name for name in self.kinds if fnmatchcase(name.lower(), pattern)]

    def read_by(self) -> dict[str, tuple[str, ...]]:
        """The same edges, the other way round."""
        found: dict[str, list[str]] = {name: [] for name in self.kinds}
        for name, inputs in self.reads.items():
            for other in inputs:
                found[other].append(name)
        return {name: tuple(names) for name, names in found.items()}


@frozen
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
    kept = frozenset(sink.name for sink in plan.sinks if kinds.get(sink.name) == "model")
    for sink in plan.sinks:
        if sink.name not in kept:
            kinds[sink.name] = "sink"
            reads[sink.name] = _named((sink.node,), at)
    tags = {sink.name: sink.tags for sink in plan.sinks if sink.tags}
    tags.update({relation.name: relation.tags for relation in plan.relations if relation.tags})
    return Graph(kinds, reads, kept, tags, {sink.name: sink.uid for sink in plan.sinks})


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
        return Selection(names, frozenset(filter(graph.is_sink, names)))
    file = SourceFile("--select", text)
    read_by = graph.read_by()
    chosen: set[str] = set()
    sinks: set[str] = set()
    for word in words:
        term = _TERM.fullmatch(word.group())
        pattern = (term["name"] if term else word.group()).lower()
        named = graph.named(pattern)
        if term is None or not named:
            reporter.add(_nothing(word, file, pattern, graph))
            continue
        chosen.update(named)
        if term["up"]:
            chosen |= _reach(named, graph.reads, term["steps_up"])
        if term["down"]:
            chosen |= _reach(named, read_by, term["steps_down"])
        behind = _reach(named, read_by, "")
        sinks.update(filter(graph.is_sink, behind))
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
    known: Collection[str] = graph.kinds
    cause = None
    method, _, rest = pattern.rpartition(":")
    if method == "tag":
        known = sorted({tag for tags in graph.tags.values() for tag in tags})
        cause = None if known else "nothing in the project has a tag"
    elif method:
        cause = "names, globs and `tag:` are understood, no other methods"
    fix = did_you_mean(rest if method == "tag" else pattern, known)
    if fix is None and known:
        fix = f"there is {one_of(sorted(known))}"
    return Diagnostic(
        NOTHING_SELECTED,
        f"`{word.group()}` selects nothing",
        Span(file, word.start(), word.end()),
        cause=cause or (None if graph.kinds else "the project declares nothing"),
        fix=fix,
    )
