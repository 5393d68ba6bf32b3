"""Compiles the part of a project that a change of models can reach; an earlier compile tells of the rest.

A project falls into parts that share nothing but seeds: no source, no model and no file. Everything that
the binder, the rules, grouping and lowering say of a part depends on that part alone, but for what
`PROJECT_RULES` say, and those look only at sources and sinks. So where only models have changed, and only in
their text, the other parts are as they were, and are not even read. Whatever is not surely so is left to a
whole compile, and so is every mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from msgspec import structs

from compiler.analysis.bind import bind_project
from compiler.analysis.order import in_order
from compiler.analysis.rules import RULES
from compiler.compile import form_queries
from compiler.diagnostics.diagnostic import Diagnostic, Phase, Reporter
from compiler.diagnostics.policy import Allow
from compiler.diagnostics.source import SourceFile, Span
from compiler.frozen import frozen
from compiler.jobplan.lower import lower_project
from compiler.jobplan.model import JobPlan, Query
from compiler.keeper import Keeper
from compiler.kept import Files, KeptProject, NotKeptError
from compiler.plan.logical import LogicalPlan
from compiler.project.listing import Entry, entries
from compiler.project.load import read_file
from compiler.project.selection import Graph, graph_of
from compiler.syntax.declarations import (
    Declaration,
    ModelDecl,
    Project,
    ProjectConfig,
    SeedDecl,
    SinkDecl,
    SourceDecl,
)
from compiler.syntax.directives import directives


@frozen
class Earlier:
    """A compile without errors.

    Args:
        kept: what the project declares.
        found: all findings, by the phase that made them.
        allows: what is silenced.
        plan: the job plan.
        graph: what reads what.
        listed: what there is, a line each.
    """

    kept: KeptProject
    found: tuple[tuple[Phase, Diagnostic], ...]
    allows: tuple[Allow, ...]
    plan: JobPlan
    graph: Graph
    listed: tuple[Entry, ...]


def keep_project(
    project: Project,
    reads: Mapping[str, tuple[str, ...]],
    found: Iterable[tuple[Phase, Diagnostic]],
    graph: Graph,
    files: Files,
) -> KeptProject | None:
    """What to keep of a project without errors; None if no part of it can be compiled alone."""
    if project.functions or project.python.files or project.descriptors or graph.kept:
        return None
    keeper = Keeper(files)
    try:
        declarations: list[Declaration] = [*project.sources, *project.models, *project.sinks]
        declared = tuple(keeper.keep(declaration) for declaration in declarations)
        seeds = keeper.encoded(project.seeds)
    except NotKeptError:
        return None
    return _if_parted(KeptProject(project.root, declared, dict(project.outlines), seeds, dict(reads)), found)


def keep_config(config: ProjectConfig, files: Files) -> bytes | None:
    """What headrace.yml says, as it is kept; None if part of it was said elsewhere."""
    try:
        return Keeper(files).encoded(config)
    except NotKeptError:
        return None


def told_config(content: bytes, files: Files) -> ProjectConfig:
    """What headrace.yml says, as it was kept.

    Raises:
        msgspec.DecodeError: the bytes are not of that type.
        KeyError: the file is gone.
    """
    return Keeper(files).value(ProjectConfig, content)


def _if_parted(kept: KeptProject, found: Iterable[tuple[Phase, Diagnostic]]) -> KeptProject | None:
    """What is kept, if each finding of a part lies in a file of it. Files with other findings stand alone."""
    files = {path for declared in kept.declared for path in declared.files}
    outlines = dict(kept.outlines)
    for phase, diagnostic in found:
        path = diagnostic.span.file.path if diagnostic.span is not None else None
        if phase == "part" and path not in files:
            return None
        if phase == "load":
            for label in diagnostic.related:
                outlines.pop(label.span.file.path, None)
            outlines.pop(path or "", None)
    return structs.replace(kept, outlines=outlines)


def recompile(
    earlier: Earlier, changed: Iterable[str], files: Files, config_now: Callable[[], ProjectConfig | None]
) -> Earlier | None:
    """The compile of a project of which files have changed since an earlier one.

    Args:
        earlier: what it was; nothing has run since, so no state root has a say.
        changed: the files, which were there before.
        files: all files as they are now.
        config_now: gives what headrace.yml says, which has not changed; None if it cannot be read.

    Returns:
        What a whole compile would give; None if that needs a whole compile.

    Raises:
        msgspec.DecodeError: what was kept is damaged.
        KeyError: so it is, or a file cannot be read.
    """
    if any(path not in earlier.kept.outlines for path in changed):
        return None
    config = config_now()
    if config is None:
        return None
    reading = _Reading(earlier, files, dict(config.variables))
    if not all(reading.read(path) for path in changed):
        return None
    project = reading.kept()
    parts = _Parts(project)
    touched = parts.of(reading.changed)
    part = _part(project, config, touched, Keeper(files), reading.anew)
    merged = earlier.plan, earlier.graph, earlier.listed
    own = Reporter()
    if touched:
        logical = bind_project(part, own)
        # A changed model may read what lies in another part, and then they are one.
        if _failed(own) or not parts.hold(touched, logical.references):
            return None
        for rule in RULES:
            own.extend(rule(logical))
        if _failed(own) or not part.sinks:
            return None
        _, groups = form_queries(logical, own, None, config.without)
        if _failed(own):
            return None
        project = structs.replace(project, reads={**project.reads, **logical.references})
        plan = _merged_plan(project, earlier, lower_project(config, groups), touched)
        if plan is None:
            return None
        graph = _merged_graph(project, earlier.graph, logical)
        merged = plan, graph, _merged_list(earlier.listed, entries(part, graph), graph)
    found: tuple[tuple[Phase, Diagnostic], ...] = (
        *((phase, d) for phase, d in earlier.found if parts.keep(phase, d, touched)),
        *_in_phase("load", reading.reporter.all()),
        *_in_phase("part", own.all()),
    )
    now = _if_parted(project, found)
    return Earlier(now, found, reading.allows(), *merged) if now is not None else None


def _failed(reporter: Reporter) -> bool:
    return reporter.has_errors


def _in_phase(phase: Phase, found: Iterable[Diagnostic]) -> Iterator[tuple[Phase, Diagnostic]]:
    return ((phase, diagnostic) for diagnostic in found)


class _Reading:
    """Reads changed files anew, and finds out which of their declarations have changed."""

    def __init__(self, earlier: Earlier, files: Files, variables: Mapping[str, str]) -> None:
        self.reporter = Reporter()
        # Names of the models that have changed, and what they and their neighbours are now.
        self.changed: set[str] = set()
        self.anew: dict[str, Declaration] = {}
        self._earlier = earlier
        self._files = files
        self._variables = variables
        self._declared = {kept.key: kept for kept in earlier.kept.declared}
        self._outlines = dict(earlier.kept.outlines)
        self._allows: dict[str, tuple[Allow, ...]] = {}

    def read(self, path: str) -> bool:
        """Reads a file; whether nothing but models without options are other than they were."""
        before = self._earlier.kept.outlines[path]
        file = self._files.file(path)
        scope = read_file(file, self._variables, self.reporter)
        self._allows[path] = tuple(directives(file, self.reporter))
        now = scope.outline()
        if (
            self.reporter.has_errors
            or now is None
            or now.names != before.names
            or now.used != before.used
            or not now.groups <= before.groups
        ):
            return False
        self._outlines[path] = now
        keeper = Keeper(self._files)
        declarations: list[Declaration] = [*scope.sources, *scope.models, *scope.sinks]
        for declaration in declarations:
            kept, other = keeper.keep(declaration), self._declared[declaration.name.value.lower()]
            self.anew[kept.key] = declaration
            if kept != other:
                if not (kept.plain and other.plain):
                    return False
                self.changed.add(kept.key)
                self._declared[kept.key] = kept
        return True

    def kept(self) -> KeptProject:
        """What the project declares now."""
        declared = tuple(self._declared.values())
        return structs.replace(self._earlier.kept, declared=declared, outlines=self._outlines)

    def allows(self) -> tuple[Allow, ...]:
        """What is silenced now: what headrace.yml says, then file by file."""
        by_file: dict[str, list[Allow]] = {}
        for allow in self._earlier.allows:
            by_file.setdefault(allow.place.file.path, []).append(allow)
        return tuple(
            allow for path in self._files.texts for allow in self._allows.get(path, by_file.get(path, ()))
        )


class _Parts:
    """The parts of a project: what lies in one file, or reads one another, is in one part."""

    def __init__(self, project: KeptProject) -> None:
        self._files = {kept.key: kept.files for kept in project.declared}
        self._above: dict[str, str] = {}
        for name, files in self._files.items():
            for file in files:
                self._join(name, f"file {file}")
        for name, inputs in project.reads.items():
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
            return True
        return all(found.span.file.path not in self._files[name] for name in names)

    def _root(self, name: str) -> str:
        while (above := self._above.get(name, name)) != name:
            self._above[name] = self._above.get(above, above)
            name = above
        return name

    def _join(self, one: str, other: str) -> None:
        first, second = self._root(one), self._root(other)
        if first != second:
            self._above[first] = second


def _part(
    project: KeptProject,
    config: ProjectConfig,
    names: frozenset[str],
    keeper: Keeper,
    anew: Mapping[str, Declaration],
) -> Project:
    """A project with some of its declarations, and all of its seeds."""
    found = [anew.get(kept.key) or keeper.told(kept) for kept in project.declared if kept.key in names]
    return Project(
        project.root,
        config,
        tuple(d for d in found if isinstance(d, SourceDecl)),
        tuple(d for d in found if isinstance(d, ModelDecl)),
        tuple(d for d in found if isinstance(d, SinkDecl)),
        keeper.value(tuple[SeedDecl, ...], project.seeds) if names else (),
    )


def _merged_plan(
    project: KeptProject, earlier: Earlier, part: JobPlan, touched: frozenset[str]
) -> JobPlan | None:
    """The earlier plan with the queries of the touched parts anew, in the order of their first sinks."""
    if structs.replace(part, queries=()) != structs.replace(earlier.plan, queries=()):
        return None
    names = {uid: name.lower() for name, uid in earlier.graph.uids.items()}
    order = {kept.key: number for number, kept in enumerate(project.declared)}
    stay: list[Query] = []
    for query in earlier.plan.queries:
        inside = {names[sink.uid] in touched for sink in query.sinks}
        if inside == {False}:
            stay.append(query)
        elif inside != {True}:
            return None
    queries = sorted([*stay, *part.queries], key=lambda query: order[names[query.sinks[0].uid]])
    return structs.replace(part, queries=tuple(queries))


def _merged_graph(project: KeptProject, earlier: Graph, logical: LogicalPlan) -> Graph:
    part = graph_of(logical)
    models = [
        _Ordered(kept.name, project.reads.get(kept.key, ()))
        for kept in project.declared
        if kept.kind == ModelDecl.__name__
    ]
    ordered = [model.name for model in in_order(models, Reporter())]
    first = [name for name, kind in earlier.kinds.items() if kind in ("seed", "source")]
    last = [name for name, kind in earlier.kinds.items() if kind == "sink"]
    kinds = {name: earlier.kinds[name] for name in (*first, *ordered, *last)}
    merged = {name: part.reads.get(name, earlier.reads[name]) for name in kinds}
    return replace(earlier, kinds=kinds, reads=merged)


def _merged_list(earlier: Iterable[Entry], part: Iterable[Entry], graph: Graph) -> tuple[Entry, ...]:
    """All entries, models in their new order."""
    anew = {(entry.kind, entry.name): entry for entry in part}
    merged = [anew.get((entry.kind, entry.name), entry) for entry in earlier]
    order = {name: number for number, name in enumerate(graph.kinds)}
    models = iter(sorted((e for e in merged if e.kind == "model"), key=lambda e: order[e.name]))
    return tuple(next(models) if entry.kind == "model" else entry for entry in merged)


_NOWHERE = Span(SourceFile("", ""), 0, 0)


@frozen(slots=True)
class _Ordered:
    """A model and what it reads, for the order of models."""

    name: str
    reads: tuple[str, ...]

    def references(self) -> list[tuple[str, Span]]:
        """The names; a cycle has been refused, so no place is told."""
        return [(name, _NOWHERE) for name in self.reads]
