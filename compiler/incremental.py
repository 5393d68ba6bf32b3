"""Compiles the part of a project that a change of models can reach; an earlier compile tells of the rest.

A project falls into parts that share nothing but seeds: no source, no model and no file. Everything that
the binder, the rules, grouping and lowering say of a part depends on that part alone, but for what
`PROJECT_RULES` say, and those look only at sources and sinks. So where only models have changed, and only in
their text, the other parts are as they were. Whatever is not surely so is left to a whole compile, and so is
every mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b

from msgspec import structs

from compiler.analysis.bind import bind_project
from compiler.analysis.order import in_order
from compiler.analysis.rules import RULES
from compiler.compile import form_queries
from compiler.diagnostics.diagnostic import Diagnostic, Phase, Reporter
from compiler.diagnostics.source import Span
from compiler.jobplan.lower import lower_project
from compiler.jobplan.model import JobPlan, Query
from compiler.plan.logical import LogicalPlan
from compiler.project.selection import Graph, graph_of
from compiler.syntax.declarations import Declaration, ModelDecl, Project


@dataclass(frozen=True)
class Outline:
    """What tells whether a declaration has changed.

    Args:
        digests: of each source, model and sink, by its name in lower case.
        rest: of all else that was read: configuration, seeds, functions, and what there is in which order.
        plain: the models without options.
    """

    digests: Mapping[str, str]
    rest: str
    plain: frozenset[str]


@dataclass(frozen=True)
class Earlier:
    """A compile without errors.

    Args:
        outline: of the project then.
        reads: what each model and sink reads, by name in lower case.
        found: all findings, by the phase that made them.
        plan: the job plan.
        graph: what reads what.
    """

    outline: Outline
    reads: Mapping[str, tuple[str, ...]]
    found: tuple[tuple[Phase, Diagnostic], ...]
    plan: JobPlan
    graph: Graph


def outline_of(project: Project) -> Outline:
    """The outline of a loaded project. The text of a declaration and its place are both in its digest."""
    declared: list[Declaration] = [*project.sources, *project.models, *project.sinks]
    digests = {d.name.value.lower(): _digest(repr(d)) for d in declared}
    order = [f"{type(d).__name__} {d.name.value}" for d in declared]
    rest = _digest(
        repr((project.root, project.config, project.seeds, project.functions, project.broken, order))
    )
    plain = (m.name.value.lower() for m in project.models if not m.options and not m.tags)
    return Outline(digests, rest, frozenset(plain))


def recompile(project: Project, earlier: Earlier, reporter: Reporter) -> Earlier | None:
    """The compile of a project of which models have changed since an earlier one.

    Args:
        project: as it is now.
        earlier: what it was; nothing has run since, so no state root has a say.
        reporter: what loading has found.

    Returns:
        What a whole compile would give; None if that needs a whole compile.
    """
    now = outline_of(project)
    changed = {name for name, digest in now.digests.items() if earlier.outline.digests.get(name) != digest}
    models = {m.name.value.lower() for m in project.models}
    plain = now.plain & earlier.outline.plain
    if (
        reporter.has_errors
        or now.rest != earlier.outline.rest
        or not changed <= (models & plain)
        or earlier.graph.kept
        or now.digests.keys() != earlier.outline.digests.keys()
    ):
        return None
    parts = _Parts(project, earlier.reads)
    touched = parts.of(changed)
    part = _only(project, touched)
    own = Reporter()
    logical = bind_project(part, own)
    # A changed model may read what lies in another part, and then they are one.
    if _failed(own) or not parts.hold(touched, logical.references):
        return None
    for rule in RULES:
        own.extend(rule(logical))
    if _failed(own) or not part.sinks:
        return None
    _, groups = form_queries(logical, own, None, project.config.without)
    if _failed(own):
        return None
    plan = _merged_plan(project, earlier, lower_project(project.config, groups), touched)
    if plan is None:
        return None
    found = [
        *_in_phase("load", reporter.all()),
        *((phase, d) for phase, d in earlier.found if parts.keep(phase, d, touched)),
        *_in_phase("part", own.all()),
    ]
    reads = {**earlier.reads, **logical.references}
    graph = _merged_graph(project, earlier.graph, logical, reads)
    return Earlier(now, reads, tuple(found), plan, graph)


def _in_phase(phase: Phase, found: Iterable[Diagnostic]) -> Iterator[tuple[Phase, Diagnostic]]:
    return ((phase, diagnostic) for diagnostic in found)


def can_be_parted(project: Project, found: Iterable[tuple[Phase, Diagnostic]]) -> bool:
    """Whether each finding of a part lies in a file that declares something of it."""
    declared: list[Declaration] = [*project.sources, *project.models, *project.sinks]
    files = {d.name.span.file.path for d in declared}
    return all(d.span is not None and d.span.file.path in files for phase, d in found if phase == "part")


def _failed(reporter: Reporter) -> bool:
    return reporter.has_errors


class _Parts:
    """The parts of a project: what is declared in one file, or reads one another, is in one part."""

    def __init__(self, project: Project, reads: Mapping[str, tuple[str, ...]]) -> None:
        declared: list[Declaration] = [*project.sources, *project.models, *project.sinks]
        self._files = {d.name.value.lower(): d.name.span.file.path for d in declared}
        self._above: dict[str, str] = {}
        for name, file in self._files.items():
            self._join(name, f"file {file}")
        for name, inputs in reads.items():
            for other in inputs:
                if other in self._files and name in self._files:
                    self._join(name, other)

    def of(self, names: Iterable[str]) -> frozenset[str]:
        """All names in the parts of some names."""
        roots = {self._root(name) for name in names}
        return frozenset(name for name in self._files if self._root(name) in roots)

    def hold(self, names: frozenset[str], reads: Mapping[str, tuple[str, ...]]) -> bool:
        """Whether what is read within a part lies in it."""
        return all(other in names or other not in self._files for found in reads.values() for other in found)

    def keep(self, phase: Phase, found: Diagnostic, names: frozenset[str]) -> bool:
        """Whether an earlier finding stands, some names being compiled anew."""
        if phase != "part" or found.span is None:
            return phase == "project"
        return found.span.file.path not in {self._files[name] for name in names}

    def _root(self, name: str) -> str:
        while (above := self._above.get(name, name)) != name:
            self._above[name] = self._above.get(above, above)
            name = above
        return name

    def _join(self, one: str, other: str) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self._above[first] = second


def _only(project: Project, names: frozenset[str]) -> Project:
    """A project with some of its declarations, and all of its seeds."""
    return structs.replace(
        project,
        sources=tuple(d for d in project.sources if d.name.value.lower() in names),
        models=tuple(d for d in project.models if d.name.value.lower() in names),
        sinks=tuple(d for d in project.sinks if d.name.value.lower() in names),
    )


def _merged_plan(
    project: Project, earlier: Earlier, part: JobPlan, touched: frozenset[str]
) -> JobPlan | None:
    """The earlier plan with the queries of the touched parts anew, in the order of their first sinks."""
    if structs.replace(part, queries=()) != structs.replace(earlier.plan, queries=()):
        return None
    names = {uid: name.lower() for name, uid in earlier.graph.uids.items()}
    order = {d.name.value.lower(): number for number, d in enumerate(project.sinks)}
    kept: list[Query] = []
    for query in earlier.plan.queries:
        inside = {names[sink.uid] in touched for sink in query.sinks}
        if inside == {False}:
            kept.append(query)
        elif inside != {True}:
            return None
    queries = sorted([*kept, *part.queries], key=lambda query: order[names[query.sinks[0].uid]])
    return structs.replace(part, queries=tuple(queries))


def _merged_graph(
    project: Project, earlier: Graph, logical: LogicalPlan, reads: Mapping[str, tuple[str, ...]]
) -> Graph:
    part = graph_of(logical)
    models = [_Ordered(model, reads.get(model.name.value.lower(), ())) for model in project.models]
    ordered = [model.declaration.name.value for model in in_order(models, Reporter())]
    first = [name for name, kind in earlier.kinds.items() if kind in ("seed", "source")]
    last = [name for name, kind in earlier.kinds.items() if kind == "sink"]
    kinds = {name: earlier.kinds[name] for name in (*first, *ordered, *last)}
    merged = {name: part.reads.get(name, earlier.reads[name]) for name in kinds}
    return replace(earlier, kinds=kinds, reads=merged)


@dataclass(frozen=True, slots=True)
class _Ordered:
    """A model and what it reads, for the order of models."""

    declaration: ModelDecl
    names: tuple[str, ...]

    def references(self) -> list[tuple[str, Span]]:
        """The names; a cycle has been refused, so no place is told."""
        return [(name, self.declaration.span) for name in self.names]


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
