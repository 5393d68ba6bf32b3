"""Binds a project: declarations in, logical plan out."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal

from msgspec import structs

from compiler.analysis.builder import Builder
from compiler.analysis.catalog import Catalog, Poisoned, Relation, WithOptions
from compiler.analysis.chaining import has_own_tasks, with_chain
from compiler.analysis.contracts import by_name, by_position, exactly
from compiler.analysis.ignored_options import ignored_options
from compiler.analysis.late_rows import with_late_rows
from compiler.analysis.materialized import sink_of
from compiler.analysis.model_options import ModelOptions, read_options, take_options
from compiler.analysis.order import in_order
from compiler.analysis.query_settings import QuerySettings
from compiler.analysis.references import references
from compiler.analysis.select import QueryBinder
from compiler.analysis.sinks import bind_sink
from compiler.analysis.sources import BoundSource, bind_source, other_readings
from compiler.analysis.steps import steps_binder
from compiler.analysis.uids import Uids
from compiler.analysis.user_functions import bind_functions, visible
from compiler.diagnostics.codes import SOURCE_POLICY
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label, Reporter
from compiler.diagnostics.source import SourceFile, Span
from compiler.frozen import frozen
from compiler.plan.logical import BoundRelation, BoundSink, LogicalPlan
from compiler.plan.node import Node
from compiler.plan.operators import Boundary, LateRows, SeedScan
from compiler.plan.schema import Field, Schema
from compiler.syntax import declarations as decl
from compiler.syntax.clear_text import clear_text
from compiler.syntax.data_types import parse_type
from compiler.syntax.dialect import Parsed, parse_query
from compiler.syntax.fragment import Fragment

Body = Parsed | decl.StepsBody | decl.DeadLetters


@frozen(slots=True)
class ParsedModel:
    """A model or sink with its body parsed; `body` is None if that failed."""

    declaration: decl.ModelDecl | decl.SinkDecl
    body: Body | None
    _found: list[list[tuple[str, Span]]] = field(default_factory=list, compare=False, repr=False)

    @property
    def name(self) -> str:
        """As it was written."""
        return self.declaration.name.value

    def references(self) -> list[tuple[str, Span]]:
        """Names of the relations that it reads, and where; looked for once."""
        if not self._found:
            self._found.append(self._references())
        return self._found[0]

    def _references(self) -> list[tuple[str, Span]]:
        if self.body is None:
            return []
        if isinstance(self.body, Parsed):
            return references(self.body)
        if isinstance(self.body, decl.DeadLetters):
            return [(name.value, name.span) for name in self.body.sources]
        found = [(self.body.source.value, self.body.source.span)]
        for step in self.body.steps:
            found.extend((name.value, name.span) for name in step.relations)
        return found


def _names_by_position(declared: decl.ModelDecl | decl.SinkDecl) -> list[str]:
    """Names for the columns of a query that are matched by position."""
    if isinstance(declared, decl.ModelDecl):
        return [column.name.value for column in declared.columns] if declared.by_position else []
    inserted = [name.value for name in declared.insert_columns]
    return inserted or [column.name.value for column in declared.columns]


def bind_project(project: decl.Project, reporter: Reporter) -> LogicalPlan:
    """Binds all declarations; what has mistakes is left out, and so is what reads it, silently."""
    functions = bind_functions(project, reporter)
    with visible(functions):
        return replace(_ProjectBinder(project, reporter).bind(), functions=functions.lowered)


class _ProjectBinder:
    def __init__(self, project: decl.Project, reporter: Reporter) -> None:
        self._project = project
        self._reporter = reporter
        self._places: dict[str, Span] = {}
        self._relations: list[BoundRelation] = []
        # What each dead-letter sink takes, by the sink's name.
        self._dead_letters: dict[str, list[BoundSource]] = {}
        declared = [d.name for d in project.sources] + [d.name for d in project.models]
        declared += [d.name for d in project.seeds]
        known = {name.value.lower() for name in declared} | project.broken
        sinks = frozenset(sink.name.value.lower() for sink in project.sinks)
        self._catalog = Catalog(frozenset(known), sinks=sinks)
        self._settings = QuerySettings(project.config.target.trigger_ms)
        self._uids = Uids()
        # Sinks that models ask for by `materialized`.
        self._kept: list[ParsedModel] = []

    def bind(self) -> LogicalPlan:
        for kind, declared in (("source", self._project.sources), ("sink", self._project.sinks)):
            for owner in declared:
                self._reporter.extend(clear_text(owner.options, f"{kind} `{owner.name.value}`"))
        for seed in self._project.seeds:
            self._bind_seed(seed)
        for source in self._project.sources:
            self._bind_source(source)
        models = [ParsedModel(m, self._parse(m.body)) for m in self._project.models]
        sinks = [ParsedModel(s, self._parse(s.body)) for s in self._project.sinks]
        for model in in_order(models, self._reporter):
            self._bind_model(model)
        bound = [found for sink in sinks if (found := self._bind_sink(sink))]
        bound += [found for sink in self._kept if (found := self._bind_sink(sink, kept=True))]
        self._uids.check(self._reporter)
        if not self._reporter.has_errors:
            bound = with_late_rows(bound, self._places, self._reporter)
        return LogicalPlan(
            timezone=self._project.config.timezone,
            relations=tuple(self._relations),
            sinks=tuple(bound),
            read=frozenset(self._catalog.read),
            places=self._places,
            references={
                parsed.declaration.name.value.lower(): tuple(
                    dict.fromkeys(name.lower() for name, _ in parsed.references())
                )
                for parsed in (*models, *sinks)
            },
        )

    def _parse(self, body: Fragment | decl.StepsBody | decl.DeadLetters) -> Body | None:
        if not isinstance(body, Fragment):
            return body
        try:
            return parse_query(body)
        except DiagnosticError as error:
            self._reporter.add(*error.diagnostics)
            return None

    def _bind_seed(self, seed: decl.SeedDecl) -> None:
        fields = []
        for name, type_text in seed.columns:
            text = SourceFile(seed.path, type_text)
            fields.append(Field(name, parse_type(Fragment.plain(text, 0, len(type_text)))))
        node = SeedScan(seed.name.value, seed.path, seed.sha256, Schema(tuple(fields)))
        self._add(seed.name, "seed", node)

    def _bind_source(self, declared: decl.SourceDecl) -> None:
        options, others = take_options(declared.options, "source", self._reporter)
        source = structs.replace(declared, options=others)
        builder = Builder(self._uids.of(source.name, options), self._places)
        try:
            bound = bind_source(source, self._project, builder, self._reporter)
        except Poisoned:
            return
        except DiagnosticError as error:
            self._reporter.add(*error.diagnostics)
            return
        self._places[builder.owner] = source.name.span
        if bound.dead_letters is not None and bound.dead_letter_sink is not None:
            self._dead_letters.setdefault(bound.dead_letter_sink.lower(), []).append(bound)
        read_otherwise = other_readings(source, self._project, builder, self._places, self._reporter)
        self._add(source.name, "source", bound.node, _tags(source, options), read_otherwise)

    def _bind_model(self, model: ParsedModel) -> None:
        declaration = model.declaration
        assert isinstance(declaration, decl.ModelDecl)
        name = declaration.name
        options = read_options(declaration.options, self._reporter)
        self._settings.add(name.value, options, [read for read, _ in model.references()])
        builder = Builder(self._uids.of(name, options), self._places, options, self._project.config.timezone)
        try:
            node = self._bind_body(model, builder)
            node = self._contract(declaration, node, builder)
            relations = [relation.node for relation in self._relations]
            if has_own_tasks(node, options, relations):
                # Its number is that of the tasks which its rows are handed to, and the query's is another.
                tasks = replace(options, parallelism=None)
                self._settings.add(name.value, tasks, [read for read, _ in model.references()])
            node = with_chain(node, builder.owner, options, relations)
        except Poisoned:
            return
        except DiagnosticError as error:
            self._reporter.add(*error.diagnostics)
            return
        if options.bounds_state:
            self._reporter.extend(ignored_options(declaration.options, node, name.value))
        self._add(name, "model", Boundary(name.value, node), _tags(declaration, options))
        kept = sink_of(declaration, options, self._project.config.target.storage, node.changelog.key)
        if kept is not None:
            self._kept.append(ParsedModel(kept, self._parse(kept.body)))

    def _contract(self, model: decl.ModelDecl, node: Node, builder: Builder) -> Node:
        if model.columns and model.by_position:
            return by_position(model.name, model.columns, node, builder, self._reporter)
        if builder.options.contract is not None:
            return exactly(model.columns, node, model.name, builder.options.contract, builder)
        by_name(model.columns, node, model.name)
        return node

    def _bind_body(self, model: ParsedModel, builder: Builder) -> Node:
        body = model.body
        if body is None:
            for name, _ in model.references():
                self._catalog.read.add(name.lower())
            raise Poisoned(model.declaration.name.value)
        if isinstance(body, decl.DeadLetters):
            return self._bind_dead_letters(body, model.declaration.name, builder)
        if isinstance(body, decl.StepsBody):
            return steps_binder(self._catalog, builder, self._reporter).bind(body)
        return QueryBinder(body.fragment, self._catalog, builder, self._reporter).bind(
            body.tree, _names_by_position(model.declaration)
        )

    def _bind_dead_letters(self, body: decl.DeadLetters, sink: decl.Text, builder: Builder) -> Node:
        """All dead letters that go to a sink.

        Raises:
            Poisoned: a source that sends some has mistakes.
        """
        parts = [part.dead_letters for part in self._dead_letters.get(sink.value.lower(), ())]
        nodes = [part for part in parts if part is not None]
        if len(nodes) != len(body.sources):
            raise Poisoned(sink.value)
        if len(nodes) > 1 and any(isinstance(node, LateRows) for node in nodes):
            raise DiagnosticError(
                Diagnostic(
                    SOURCE_POLICY,
                    f"sink `{sink.value}` takes late rows, and so the dead letters of one source only",
                    sink.span,
                    cause="the query that leaves late rows out tells of them, and a sink is one query's",
                    fix="give each source a sink of its own",
                    related=tuple(Label(name.span, "its dead letters go there") for name in body.sources),
                )
            )
        return builder.union(nodes, [body.span] * len(nodes), body.span) if len(nodes) > 1 else nodes[0]

    def _bind_sink(self, sink: ParsedModel, *, kept: bool = False) -> BoundSink | None:
        """Binds a sink; one that keeps a model (`kept`) shares its uid."""
        declared = sink.declaration
        assert isinstance(declared, decl.SinkDecl)
        options, others = take_options(declared.options, "sink", self._reporter)
        declaration = structs.replace(declared, options=others)
        uids = Uids() if kept else self._uids
        uid = uids.of(declaration.name, options)
        reads = [name for name, _ in sink.references()]
        asked = self._settings.sink(
            declaration.name.value, declaration.name.span, options, reads, self._reporter
        )
        builder = Builder(uid, self._places, options, self._project.config.timezone)
        try:
            bound = bind_sink(
                declaration,
                lambda: self._bind_body(sink, builder),
                self._project.descriptors,
                builder,
                self._reporter,
            )
        except Poisoned:
            for name in reads:
                self._catalog.read.add(name.lower())
            return None
        if options.bounds_state:
            self._reporter.extend(ignored_options(declared.options, bound.node, declaration.name.value))
        tags = _tags(declaration, options)
        return replace(
            bound,
            uid=uid,
            tags=tags,
            trigger_ms=asked.trigger_ms,
            parallelism=asked.parallelism,
            isolated=asked.isolated,
        )

    def _add(
        self,
        name: decl.Text,
        kind: Literal["source", "model", "seed"],
        node: Node,
        tags: tuple[str, ...] = (),
        with_options: WithOptions | None = None,
    ) -> None:
        self._catalog.add(Relation(name.value, kind, node, with_options))
        self._relations.append(BoundRelation(name.value, kind, node, name.span, tags))


def _tags(
    declared: decl.SourceDecl | decl.ModelDecl | decl.SinkDecl, options: ModelOptions
) -> tuple[str, ...]:
    """Its tags, each once."""
    return tuple(dict.fromkeys((*(tag.value for tag in declared.tags), *options.tags)))
