"""Binds a project: declarations in, logical plan out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compiler.analysis.builder import Builder
from compiler.analysis.catalog import Catalog, Poisoned, Relation
from compiler.analysis.contracts import by_name, by_position
from compiler.analysis.model_options import read_options
from compiler.analysis.order import in_order
from compiler.analysis.references import references
from compiler.analysis.select import QueryBinder
from compiler.analysis.sinks import bind_sink
from compiler.analysis.sources import BoundSource, bind_source
from compiler.analysis.steps import steps_binder
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import SourceFile, Span
from compiler.plan.logical import BoundRelation, BoundSink, LogicalPlan
from compiler.plan.node import Node
from compiler.plan.operators import Boundary, SeedScan
from compiler.plan.schema import Field, Schema
from compiler.syntax import declarations as decl
from compiler.syntax.data_types import parse_type
from compiler.syntax.dialect import Parsed, parse_query
from compiler.syntax.fragment import Fragment

Body = Parsed | decl.StepsBody | decl.DeadLetters


@dataclass(frozen=True, slots=True)
class ParsedModel:
    """A model or sink with its body parsed; `body` is None if that failed."""

    declaration: decl.ModelDecl | decl.SinkDecl
    body: Body | None

    def references(self) -> list[tuple[str, Span]]:
        """Names of the relations that it reads, and where."""
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
    return _ProjectBinder(project, reporter).bind()


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

    def bind(self) -> LogicalPlan:
        for function in self._project.functions:
            self._reporter.add(
                Diagnostic(
                    codes.UNSUPPORTED_SYNTAX,
                    "CREATE FUNCTION is not run yet",
                    function.span,
                    fix="use Spark SQL's own functions",
                )
            )
        for seed in self._project.seeds:
            self._bind_seed(seed)
        for source in self._project.sources:
            self._bind_source(source)
        models = [ParsedModel(m, self._parse(m.body)) for m in self._project.models]
        sinks = [ParsedModel(s, self._parse(s.body)) for s in self._project.sinks]
        for model in in_order(models, self._reporter):
            self._bind_model(model)
        bound = [found for sink in sinks if (found := self._bind_sink(sink))]
        return LogicalPlan(
            timezone=self._project.config.timezone,
            relations=tuple(self._relations),
            sinks=tuple(bound),
            read=frozenset(self._catalog.read),
            places=self._places,
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

    def _bind_source(self, source: decl.SourceDecl) -> None:
        builder = Builder(source.name.value, self._places)
        try:
            bound = bind_source(source, self._project.config, builder, self._reporter)
        except Poisoned:
            return
        except DiagnosticError as error:
            self._reporter.add(*error.diagnostics)
            return
        self._places[source.name.value] = source.name.span
        if bound.dead_letters is not None and bound.dead_letter_sink is not None:
            self._dead_letters.setdefault(bound.dead_letter_sink.lower(), []).append(bound)
        self._add(source.name, "source", bound.node)

    def _bind_model(self, model: ParsedModel) -> None:
        name = model.declaration.name
        options = read_options(model.declaration.options, self._reporter)
        builder = Builder(name.value, self._places, options)
        try:
            node = self._bind_body(model, builder)
            node = self._contract(model.declaration, node, builder)
        except Poisoned:
            return
        except DiagnosticError as error:
            self._reporter.add(*error.diagnostics)
            return
        self._add(name, "model", Boundary(name.value, node))

    def _contract(self, model: decl.ModelDecl | decl.SinkDecl, node: Node, builder: Builder) -> Node:
        if isinstance(model, decl.ModelDecl) and model.columns:
            if model.by_position:
                return by_position(model.name, model.columns, node, builder, self._reporter)
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
            return steps_binder(self._catalog, builder).bind(body)
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
        return builder.union(nodes, [body.span] * len(nodes), body.span) if len(nodes) > 1 else nodes[0]

    def _bind_sink(self, sink: ParsedModel) -> BoundSink | None:
        declaration = sink.declaration
        assert isinstance(declaration, decl.SinkDecl)
        builder = Builder(declaration.name.value, self._places)
        try:
            return bind_sink(declaration, lambda: self._bind_body(sink, builder), builder, self._reporter)
        except Poisoned:
            for name, _ in sink.references():
                self._catalog.read.add(name.lower())
            return None

    def _add(self, name: decl.Text, kind: Literal["source", "model", "seed"], node: Node) -> None:
        self._catalog.add(Relation(name.value, kind, node))
        self._relations.append(BoundRelation(name.value, kind, node, name.span))
