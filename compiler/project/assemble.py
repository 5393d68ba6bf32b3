"""Puts the files of a project together: what a table is used for, whose properties are whose, names once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from compiler.diagnostics.codes import (
    DUPLICATE_NAME,
    SQL_SYNTAX,
    UNKNOWN_RELATION,
    UNSUPPORTED_SYNTAX,
    WRITE_TO_SOURCE,
    Code,
)
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.policy import Policy
from compiler.diagnostics.source import SourceFile, Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.project.config import check_zone
from compiler.syntax.declarations import (
    ModelDecl,
    Project,
    ProjectConfig,
    SeedDecl,
    SinkDecl,
    SourceDecl,
    StepsBody,
    Text,
)
from compiler.syntax.directives import directives
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import InsertDecl, PropertiesDecl, Scope, TableDecl, unique_options


def assemble(
    root: Path,
    config: ProjectConfig,
    scopes: Sequence[Scope],
    csv_files: Sequence[tuple[SourceFile, bytes]],
    reporter: Reporter,
    *,
    zone_is_free: bool = False,
) -> Project:
    """The project of all files.

    Args:
        root: the project's folder.
        config: headrace.yml for the chosen target.
        scopes: what each file gave.
        csv_files: the seeds' files.
        reporter: takes what does not fit together.
        zone_is_free: whether a script's `SET 'table.local-time-zone'` decides the zone.
    """
    return _Assembler(scopes, reporter).project(root, config, csv_files, zone_is_free)


class _Assembler:
    def __init__(self, scopes: Sequence[Scope], reporter: Reporter) -> None:
        self.scopes = scopes
        self.reporter = reporter
        self.sources: list[SourceDecl] = [s for scope in scopes for s in scope.sources]
        self.models: list[ModelDecl] = [m for scope in scopes for m in scope.models]
        self.sinks: list[SinkDecl] = [s for scope in scopes for s in scope.sinks]
        self.broken: set[str] = {name for scope in scopes for name in scope.broken}

    def project(
        self,
        root: Path,
        config: ProjectConfig,
        csv_files: Sequence[tuple[SourceFile, bytes]],
        zone_is_free: bool,
    ) -> Project:
        self._tables()
        self._properties()
        seeds: tuple[SeedDecl, ...] = ()
        types = [t for scope in self.scopes for t in scope.seed_types]
        if csv_files or types:
            from compiler.project.seeds import read_seeds

            seeds = read_seeds(csv_files, types, self.reporter)
        self._names([*self.sources, *self.models, *self.sinks, *seeds])
        self._groups()
        for scope in self.scopes:
            if scope.timezone is not None:
                config = self._zone(scope.timezone, scope, config, zone_is_free)
        return Project(
            str(root),
            config,
            tuple(self.sources),
            tuple(self.models),
            tuple(self.sinks),
            seeds,
            frozenset(self.broken),
            self._policy(config),
        )

    def _policy(self, config: ProjectConfig) -> Policy:
        """The project's own, and the comments of its files."""
        allows = [allow for scope in self.scopes for allow in directives(scope.file, self.reporter)]
        return replace(config.policy, allows=(*config.policy.allows, *allows))

    def _zone(self, zone: Text, scope: Scope, config: ProjectConfig, free: bool) -> ProjectConfig:
        if zone.value == config.timezone or not check_zone(zone, scope):
            return config
        if free:
            return replace(config, timezone=zone.value)
        scope.error(
            UNSUPPORTED_SYNTAX,
            f"time zone `{zone.value}` is not the project's",
            zone.span,
            cause=f"a project has one zone, and here it is `{config.timezone}`",
            fix=f"write `timezone: {zone.value}` in headrace.yml",
        )
        return config

    # --- Flink's tables ---------------------------------------------------------------------------------

    def _tables(self) -> None:
        tables: dict[str, TableDecl] = {}
        for scope in self.scopes:
            for table in scope.tables:
                tables.setdefault(table.name.value.lower(), table)
        inserts: dict[str, InsertDecl] = {}
        for scope in self.scopes:
            for insert in scope.inserts:
                self._insert(insert, tables, inserts)
        for key, table in tables.items():
            written = inserts.get(key)
            if written is not None:
                self._refuse_reads(table, written)
                self.sinks.append(_sink_of(table, written))
            elif table.kind == "sink":
                self._error(
                    SQL_SYNTAX,
                    f"sink `{table.name.value}` has no query",
                    table.name,
                    fix=f"end it with AS and a query, or write `INSERT INTO {table.name.value} SELECT …`",
                )
            else:
                self.sources.append(_source_of(table))
        # A table that stands twice is kept once above; the names' check must still see the other.
        for scope in self.scopes:
            for table in scope.tables:
                if tables[table.name.value.lower()] is not table:
                    self._twice(table.name, tables[table.name.value.lower()].name)

    def _insert(
        self, insert: InsertDecl, tables: dict[str, TableDecl], inserts: dict[str, InsertDecl]
    ) -> None:
        key = insert.target.value.lower()
        if key in tables:
            if key in inserts:
                self._error(
                    UNSUPPORTED_SYNTAX,
                    f"a second INSERT INTO `{insert.target.value}`",
                    insert.target,
                    cause="two queries would write one path, and neither could keep its promises",
                    fix="write one INSERT with UNION ALL of the two queries",
                    related=(Label(inserts[key].target.span, "the first is here"),),
                )
            else:
                inserts[key] = insert
            return
        kinds: tuple[tuple[str, Sequence[SourceDecl | ModelDecl | SinkDecl]], ...]
        kinds = (("source", self.sources), ("model", self.models), ("sink", self.sinks))
        for kind, named in kinds:
            for other in named:
                if other.name.value.lower() != key:
                    continue
                cause = {
                    "source": "a source is only read",
                    "model": "a model is its own query",
                    "sink": "the sink has its own query",
                }[kind]
                self._error(
                    WRITE_TO_SOURCE if kind == "source" else UNSUPPORTED_SYNTAX,
                    f"INSERT INTO the {kind} `{insert.target.value}`",
                    insert.target,
                    cause=cause,
                    fix="write to a table or sink that has no query yet",
                    related=(Label(other.name.span, f"the {kind} is here"),),
                )
                return
        if key in self.broken:
            return
        names = [t.name.value for t in tables.values()]
        self._error(
            UNKNOWN_RELATION,
            f"unknown table `{insert.target.value}`",
            insert.target,
            fix=did_you_mean(insert.target.value, names)
            or f"declare it: CREATE TABLE {insert.target.value} (…) WITH ('connector' = …)",
        )

    def _refuse_reads(self, table: TableDecl, insert: InsertDecl) -> None:
        """Reports a table that a query reads although another writes it."""
        bodies: list[Fragment | StepsBody] = [m.body for m in self.models]
        bodies += [s.body for s in self.sinks]
        bodies += [i.body for scope in self.scopes for i in scope.inserts]
        for body in bodies:
            place = _read_at(body, table.name.value)
            if place is not None:
                self._error(
                    WRITE_TO_SOURCE,
                    f"table `{table.name.value}` is both read and written",
                    place,
                    cause="a table is the input or the output of a pipeline",
                    fix="read the query behind it: make it a view, and insert from that view",
                    related=(Label(insert.target.span, "written here"),),
                )
                return

    # --- properties, names, groups ----------------------------------------------------------------------

    def _properties(self) -> None:
        at = {m.name.value.lower(): i for i, m in reversed(list(enumerate(self.models)))}
        described: dict[str, PropertiesDecl] = {}
        for properties in (p for scope in self.scopes for p in scope.properties):
            key = properties.name.value.lower()
            if key in self.broken and key not in at:
                continue
            if key not in at:
                names = [m.name.value for m in self.models]
                self._error(
                    UNKNOWN_RELATION,
                    f"unknown model `{properties.name.value}`",
                    properties.name,
                    cause="an entry without `from`, `steps` or `sql` describes a model that exists",
                    fix=did_you_mean(properties.name.value, names) or "add `from:` and `steps:`, or `sql:`",
                )
                continue
            if key in described:
                self._twice(properties.name, described[key].name, "described")
                continue
            described[key] = properties
            model = self.models[at[key]]
            options = unique_options([*model.options, *properties.options], self._at)
            self.models[at[key]] = replace(
                model,
                options=options,
                columns=model.columns or properties.columns,
                description=model.description if model.description is not None else properties.description,
                tags=(*model.tags, *properties.tags),
            )

    def _names(self, named: Iterable[SourceDecl | ModelDecl | SinkDecl | SeedDecl]) -> None:
        first: dict[str, Text] = {}
        for declaration in sorted(named, key=lambda d: (d.name.span.file.path, d.name.span.start)):
            key = declaration.name.value.lower()
            if key in first:
                self._twice(declaration.name, first[key])
            else:
                first[key] = declaration.name

    def _twice(self, name: Text, other: Text, what: str = "defined") -> None:
        spelled = "" if name.value == other.value else "names are the same without regard to case"
        self._error(
            DUPLICATE_NAME,
            f"`{name.value}` is {what} twice",
            name,
            cause=spelled or None,
            fix="rename one of the two",
            related=(Label(other.span, f"first {what} here"),),
        )

    def _groups(self) -> None:
        references = [r for scope in self.scopes for r in scope.references]
        if not references:
            return
        groups: dict[str, set[str]] = {}
        for source in self.sources:
            groups.setdefault((source.group or "").lower(), set()).add(source.name.value.lower())
        spelled = sorted({s.group for s in self.sources if s.group})
        for reference in references:
            members = groups.get(reference.group.lower()) if reference.group else None
            if members is not None and reference.name.lower() in members:
                continue
            place = Text(reference.name, reference.span)
            if members is None:
                alone = reference.name.lower() in groups.get("", set())
                self._error(
                    UNKNOWN_RELATION,
                    f"unknown group of sources `{reference.group}`",
                    place,
                    fix=f"source `{reference.name}` is in no group: write its name alone"
                    if alone
                    else did_you_mean(reference.group, spelled),
                )
            else:
                names = [
                    s.name.value for s in self.sources if (s.group or "").lower() == reference.group.lower()
                ]
                self._error(
                    UNKNOWN_RELATION,
                    f"group `{reference.group}` has no source `{reference.name}`",
                    place,
                    fix=did_you_mean(reference.name, names),
                )

    # --- reporting --------------------------------------------------------------------------------------

    def _error(
        self,
        code: Code,
        message: str,
        place: Text,
        *,
        cause: str | None = None,
        fix: str | None = None,
        related: tuple[Label, ...] = (),
    ) -> None:
        self._at(code, message, place.span, cause=cause, fix=fix, related=related)

    def _at(
        self,
        code: Code,
        message: str,
        span: Span,
        *,
        cause: str | None = None,
        fix: str | None = None,
        related: tuple[Label, ...] = (),
    ) -> None:
        self.reporter.add(Diagnostic(code, message, span, cause, fix, None, related))


def _sink_of(table: TableDecl, insert: InsertDecl) -> SinkDecl:
    # Settings before the table and before the INSERT: those of the INSERT are of the query.
    options = unique_options([*insert.settings, *table.options], lambda *_, **__: None)
    return SinkDecl(
        table.name,
        insert.body,
        table.columns,
        table.primary_key,
        table.partitioned_by,
        options,
        insert.span,
        table.description,
        insert.columns,
    )


def _source_of(table: TableDecl) -> SourceDecl:
    return SourceDecl(
        table.name,
        table.columns,
        table.watermarks,
        table.primary_key,
        unique_options([*table.source_settings, *table.options], lambda *_, **__: None),
        table.span,
        table.partitioned_by,
        table.description,
    )


_QUIET = re.compile(r"--[^\n]*|/\*[\s\S]*?\*/|'(?:[^'\\]++|\\[\s\S]|'')*+'")


def _read_at(body: Fragment | StepsBody, name: str) -> Text | None:
    """Where a body names a relation.

    A first look at the text, before queries are parsed: the binder refuses reads of a sink in any other form.
    """
    if isinstance(body, StepsBody):
        names = [body.source]
        for step in body.steps:
            names.extend(step.relations)
        return next((n for n in names if n.value.lower() == name.lower()), None)
    if name.lower() not in body.text.lower():
        return None
    text = _QUIET.sub(lambda m: " " * len(m.group()), body.text)
    word = rf"`?{re.escape(name)}`?"
    if re.search(rf"(?<![\w`.]){word}\s+AS\s*\(", text, re.IGNORECASE):
        return None  # a common table expression of that name
    match = re.search(rf"\b(?:FROM|JOIN|TABLE)\s+({word})(?![\w`.(])", text, re.IGNORECASE)
    return Text(name, body.span(match.start(1), match.end(1))) if match else None
