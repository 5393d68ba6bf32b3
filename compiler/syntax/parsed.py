"""What one file gave, before the files are put together.

Flink's TABLE is a source or a sink by its use, an INSERT may stand in another file than its table, and YAML
may describe a model of a .sql file: so these wait for compiler/project/assemble.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from compiler.diagnostics.codes import Code
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.source import SourceFile, Span
from compiler.syntax.declarations import (
    ColumnDecl,
    Declaration,
    FunctionDecl,
    ModelDecl,
    OptionDecl,
    SinkDecl,
    SourceDecl,
    Text,
    WatermarkDecl,
)
from compiler.syntax.fragment import Fragment
from compiler.syntax.outline import FileOutline


class LikeDecl(Struct, frozen=True):
    """LIKE base (options).

    Args:
        base: the table whose definition is taken over.
        strategies: feature to INCLUDING, EXCLUDING or OVERWRITING, for all features.
        span: the clause.
    """

    base: Text
    strategies: Mapping[str, str]
    span: Span


class TableDecl(Struct, frozen=True):
    """CREATE TABLE, a CREATE SINK whose query comes in an INSERT, or any table with LIKE.

    `kind` is `table` (a source or a sink by its use), `source` or `sink`.
    """

    name: Text
    kind: str
    columns: tuple[ColumnDecl, ...]
    watermarks: tuple[WatermarkDecl, ...]
    primary_key: tuple[Text, ...]
    options: tuple[OptionDecl, ...]
    source_settings: tuple[OptionDecl, ...]
    span: Span
    partitioned_by: tuple[Text, ...] = ()
    description: str | None = None
    like: LikeDecl | None = None


class InsertDecl(Struct, frozen=True):
    """INSERT INTO target [(columns)] query."""

    target: Text
    columns: tuple[Text, ...]
    body: Fragment
    settings: tuple[OptionDecl, ...]
    span: Span


class PropertiesDecl(Struct, frozen=True):
    """A YAML entry about a model that is defined elsewhere (dbt's properties)."""

    name: Text
    options: tuple[OptionDecl, ...]
    columns: tuple[ColumnDecl, ...]
    tags: tuple[Text, ...]
    description: str | None
    span: Span


class SeedTypesDecl(Struct, frozen=True):
    """A YAML entry that gives types to the columns of a seed."""

    name: Text
    columns: tuple[ColumnDecl, ...]
    description: str | None
    span: Span


class GroupReference(Struct, frozen=True):
    """`source('group', 'name')`: checked when all groups are known."""

    group: str
    name: str
    span: Span


@dataclass(slots=True)
class Scope:
    """What the reading of one file needs, and what it found."""

    file: SourceFile
    variables: Mapping[str, str]
    reporter: Reporter
    sources: list[SourceDecl] = field(default_factory=list)
    models: list[ModelDecl] = field(default_factory=list)
    sinks: list[SinkDecl] = field(default_factory=list)
    tables: list[TableDecl] = field(default_factory=list)
    inserts: list[InsertDecl] = field(default_factory=list)
    functions: list[FunctionDecl] = field(default_factory=list)
    properties: list[PropertiesDecl] = field(default_factory=list)
    seed_types: list[SeedTypesDecl] = field(default_factory=list)
    references: list[GroupReference] = field(default_factory=list)
    # Options and tags of `{{ config() }}`, which belong to the file's model.
    config: list[OptionDecl] = field(default_factory=list)
    config_tags: list[Text] = field(default_factory=list)
    # Packages that `ref('package', 'model')` names.
    packages: list[Text] = field(default_factory=list)
    # Names of the variables that are asked for.
    used: set[str] = field(default_factory=set)
    # Whether the file has Jinja statements, so that its text is not what was meant.
    templated: bool = False
    timezone: Text | None = None
    # Names of what is declared here and could not be read, in lower case.
    broken: set[str] = field(default_factory=set)

    def outline(self) -> FileOutline | None:
        """What other files may see of this one; None if it is put together with others."""
        elsewhere = (self.tables, self.inserts, self.functions, self.properties, self.seed_types)
        if any(elsewhere) or self.packages or self.templated or self.timezone is not None or self.broken:
            return None
        declared: list[Declaration] = [*self.sources, *self.models, *self.sinks]
        groups = frozenset((reference.group, reference.name) for reference in self.references)
        return FileOutline(tuple(d.name.value for d in declared), frozenset(self.used), groups)

    def error(
        self,
        code: Code,
        message: str,
        span: Span,
        *,
        cause: str | None = None,
        fix: str | None = None,
        label: str | None = None,
        related: tuple[Label, ...] = (),
    ) -> None:
        """Reports a finding with its code's own severity."""
        self.reporter.add(Diagnostic(code, message, span, cause, fix, label, related))


def unique_options(options: list[OptionDecl], error: Callable[..., None]) -> tuple[OptionDecl, ...]:
    """The options with each key once; a key that is set twice is an error that names both places.

    An option that came from a SET gives way to the statement's own.
    """
    from compiler.diagnostics.codes import DUPLICATE_NAME

    first: dict[str, OptionDecl] = {}
    for option in options:
        key = option.key.value.lower()
        other = first.get(key)
        if other is None or other.inherited:
            first[key] = option
        elif not option.inherited:
            error(
                DUPLICATE_NAME,
                f"option `{option.key.value}` is set twice",
                option.key.span,
                fix="keep one of the two",
                related=(Label(other.key.span, "first set here"),),
            )
    return tuple(first.values())
