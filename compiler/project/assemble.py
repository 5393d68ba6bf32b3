"""Puts the files of a project together: what a table is used for, whose properties are whose, names once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import structs

from compiler.diagnostics.codes import (
    DUPLICATE_NAME,
    JINJA,
    UNKNOWN_RELATION,
    UNSUPPORTED_SYNTAX,
    Code,
)
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.policy import Policy
from compiler.diagnostics.source import SourceFile, Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.project.config import check_zone
from compiler.project.tables import Tables
from compiler.syntax.declarations import (
    FunctionDecl,
    ModelDecl,
    Project,
    ProjectConfig,
    SeedDecl,
    SinkDecl,
    SourceDecl,
    Text,
)
from compiler.syntax.directives import directives
from compiler.syntax.outline import FileOutline
from compiler.syntax.parsed import PropertiesDecl, Scope, unique_options


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
        Tables(
            self.scopes, self.sources, self.models, self.sinks, self.broken, self._error, self._twice
        ).assign()
        self._properties()
        seeds: tuple[SeedDecl, ...] = ()
        types = [t for scope in self.scopes for t in scope.seed_types]
        if csv_files or types:
            from compiler.project.seeds import read_seeds

            seeds = read_seeds(csv_files, types, self.reporter)
        self._names([*self.sources, *self.models, *self.sinks, *seeds])
        self._groups()
        self._packages(config.name)
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
            self._functions(),
            outlines=self._outlines(),
        )

    def _outlines(self) -> dict[str, FileOutline]:
        """Of the files whose declarations stand as they were read."""
        standing = {id(d) for d in (*self.sources, *self.models, *self.sinks)}
        found: dict[str, FileOutline] = {}
        for scope in self.scopes:
            outline = scope.outline()
            declared = (*scope.sources, *scope.models, *scope.sinks)
            if outline is not None and all(id(d) in standing for d in declared):
                found[scope.file.path] = outline
        return found

    def _policy(self, config: ProjectConfig) -> Policy:
        """The project's own, and the comments of its files."""
        allows = [allow for scope in self.scopes for allow in directives(scope.file, self.reporter)]
        return structs.replace(config.policy, allows=(*config.policy.allows, *allows))

    def _zone(self, zone: Text, scope: Scope, config: ProjectConfig, free: bool) -> ProjectConfig:
        if zone.value == config.timezone or not check_zone(zone, scope):
            return config
        if free:
            return structs.replace(config, timezone=zone.value)
        scope.error(
            UNSUPPORTED_SYNTAX,
            f"time zone `{zone.value}` is not the project's",
            zone.span,
            cause=f"a project has one zone, and here it is `{config.timezone}`",
            fix=f"write `timezone: {zone.value}` in headrace.yml",
        )
        return config

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
            self.models[at[key]] = structs.replace(
                model,
                options=options,
                columns=model.columns or properties.columns,
                # Columns of a YAML entry are matched by name, whatever the model is written in.
                by_position=model.by_position and bool(model.columns),
                description=model.description if model.description is not None else properties.description,
                tags=(*model.tags, *properties.tags),
            )

    def _functions(self) -> tuple[FunctionDecl, ...]:
        """The functions, each name once: their names are apart from those of relations."""
        first: dict[str, FunctionDecl] = {}
        for function in (f for scope in self.scopes for f in scope.functions):
            other = first.setdefault(function.name.value.lower(), function)
            if other is not function:
                self._twice(function.name, other.name)
        return tuple(first.values())

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

    def _packages(self, project: str) -> None:
        """Judges the packages of `ref('package', 'model')`: there is one, the project."""
        for package in (p for scope in self.scopes for p in scope.packages):
            if package.value != project:
                self._error(
                    JINJA,
                    f"there is no package `{package.value}`",
                    package,
                    cause=f"a project has no packages; its own name is `{project}`",
                    fix="write `{{ ref('model') }}`",
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
