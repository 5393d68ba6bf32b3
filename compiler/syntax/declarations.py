"""What a project's files declare, before names are resolved: the common form of both front ends.

SQL statements and YAML entries become the same declarations. Only the body of a model differs: SQL gives
a query, YAML a list of steps; the binder turns both into the same logical plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct, field

from compiler.diagnostics.policy import Policy
from compiler.diagnostics.source import Span
from compiler.syntax.fragment import Fragment
from compiler.syntax.outline import FileOutline
from compiler.syntax.python_functions import PythonFiles


class Text(Struct, frozen=True, array_like=True):
    """A word or value with its place. `quoted` tells 'true' from true."""

    value: str
    span: Span
    quoted: bool = False


class OptionDecl(Struct, frozen=True, array_like=True):
    """An entry of WITH ( ) or `with:`; values are text until the connector's options are checked.

    `inherited` marks what a SET gave to the statements after it; the statement's own options go first.
    """

    key: Text
    value: Text
    inherited: bool = False


class ColumnDecl(Struct, frozen=True):
    """A column of a source, sink, or a model's contract.

    Physical: `type` only. Computed: `expression` (and `type` if the user gave one). Metadata: `metadata`
    holds the key (the column's own name if FROM is missing).
    """

    name: Text
    type: Fragment | None
    not_null: bool = False
    expression: Fragment | None = None
    metadata: Text | None = None
    virtual: bool = False
    comment: str | None = None


class WatermarkDecl(Struct, frozen=True):
    """WATERMARK FOR column AS expression, or YAML's `{on, delay}` (then `delay` is set)."""

    column: Text
    expression: Fragment | None
    delay: Text | None
    span: Span


class SourceDecl(Struct, frozen=True):
    """CREATE SOURCE, or an entry under `sources:`."""

    name: Text
    columns: tuple[ColumnDecl, ...]
    watermarks: tuple[WatermarkDecl, ...]
    primary_key: tuple[Text, ...]
    options: tuple[OptionDecl, ...]
    span: Span
    partitioned_by: tuple[Text, ...] = ()
    description: str | None = None
    group: str | None = None
    tags: tuple[Text, ...] = ()


# --- bodies of models -------------------------------------------------------


class NamedExpression(Struct, frozen=True):
    """`name: expression`, or an expression alone (then `name` is None)."""

    name: Text | None
    expression: Fragment


class Step(Struct, frozen=True, tag=True):
    """A step of a YAML model; each has a class of its own under `compiler.syntax.steps`.

    `keeps_columns` says that the columns after it are those before it: if it is wrong, the steps behind it
    can be judged all the same.
    """

    keeps_columns: ClassVar[bool] = False

    span: Span

    @property
    def relations(self) -> tuple[Text, ...]:
        """Names of the relations that it reads, besides the rows that come from the step before."""
        return ()


class StepsBody(Struct, frozen=True, tag=True):
    """The body of a YAML model."""

    source: Text
    steps: tuple[Step, ...]
    span: Span


class DeadLetters(Struct, frozen=True, tag=True):
    """The body of a sink without a query: what `sources` send to it as dead letters."""

    sources: tuple[Text, ...]
    span: Span


class ModelDecl(Struct, frozen=True):
    """CREATE MODEL, a bare SELECT file, or an entry under `models:`.

    `columns` of a view (`by_position`) name the query's columns in order; those of a YAML entry are matched
    by name, and a type is a contract.
    """

    name: Text
    body: Fragment | StepsBody
    options: tuple[OptionDecl, ...]
    span: Span
    columns: tuple[ColumnDecl, ...] = ()
    description: str | None = None
    tags: tuple[Text, ...] = ()
    by_position: bool = False


class SinkDecl(Struct, frozen=True):
    """CREATE SINK … AS query, INSERT INTO a table, an entry under `sinks:`, or a sink of dead letters.

    Declared columns are a contract.
    Those of a statement are matched by position, those of a YAML entry by name (`by_position`).
    `insert_columns` are those of `INSERT INTO t (a, b)`: the query's columns fill them by position, and the
    other declared columns are NULL.
    """

    name: Text
    body: Fragment | StepsBody | DeadLetters
    columns: tuple[ColumnDecl, ...]
    primary_key: tuple[Text, ...]
    partitioned_by: tuple[Text, ...]
    options: tuple[OptionDecl, ...]
    span: Span
    description: str | None = None
    insert_columns: tuple[Text, ...] = ()
    tags: tuple[Text, ...] = ()
    by_position: bool = True


class FunctionDecl(Struct, frozen=True):
    """CREATE FUNCTION name [(parameter TYPE, …)] [RETURNS TYPE] AS 'target' [LANGUAGE …] [WITH (…)].

    Args:
        name: what queries call it.
        target: where its code is, in the words of its language: `module.function`, or a class.
        language: the word after LANGUAGE, or None where it was left out.
        parameters: None where none were declared; `()` for an empty list.
        returns: the type after RETURNS, or None. `TABLE(a INT, …)` stands for rows.
        jars: the files of USING JAR.
        options: the entries of WITH ( ).
        temporary: whether TEMPORARY was written.
        span: the statement.
    """

    name: Text
    target: Text
    language: Text | None
    parameters: tuple[ColumnDecl, ...] | None
    returns: Fragment | None
    jars: tuple[Text, ...]
    options: tuple[OptionDecl, ...]
    temporary: bool
    span: Span


Declaration = SourceDecl | ModelDecl | SinkDecl


# --- the project's own file -------------------------------------------------


class SeedDecl(Struct, frozen=True):
    """A CSV table under seeds/, with the content's first lines already judged.

    Types come from `seeds:` in a YAML file or are guessed: BIGINT, DOUBLE, BOOLEAN, DATE, TIMESTAMP, else
    STRING, over all rows.
    """

    name: Text
    path: str
    sha256: str
    columns: tuple[tuple[str, str], ...]
    span: Span


class TargetConfig(Struct, frozen=True):
    """One target of headrace.yml after variables were filled in."""

    name: str
    master: str
    state: str
    trigger_ms: int | None
    on_end: str
    parallelism: int
    storage: str
    spark: tuple[tuple[str, str], ...]
    span: Span | None


class ProjectConfig(Struct, frozen=True):
    """headrace.yml for the chosen target; `without` are the optimizer rules that it switches off."""

    name: str
    version: str
    timezone: str
    target: TargetConfig
    variables: tuple[tuple[str, str], ...]
    source_defaults: tuple[OptionDecl, ...]
    span: Span | None
    policy: Policy = field(default_factory=Policy)
    without: frozenset[str] = frozenset()


class Project(Struct, frozen=True):
    """All that was read from disk. `root` is the absolute path of the project's folder.

    `broken` holds, in lower case, the names of what was declared and could not be read. That has been
    reported; whoever reads such a name is not wrong as well. `policy` says which warnings are silenced or
    raised. `outlines` has the files, by path, whose declarations are what they are whatever other files say.
    `descriptors` has the contents of the files that `protobuf.descriptor` names, by the paths as they are
    written; None for one that cannot be read.
    """

    root: str
    config: ProjectConfig
    sources: tuple[SourceDecl, ...]
    models: tuple[ModelDecl, ...]
    sinks: tuple[SinkDecl, ...]
    seeds: tuple[SeedDecl, ...]
    broken: frozenset[str] = frozenset()
    policy: Policy = field(default_factory=Policy)
    functions: tuple[FunctionDecl, ...] = ()
    python: PythonFiles = field(default_factory=PythonFiles)
    outlines: Mapping[str, FileOutline] = field(default_factory=dict)
    descriptors: Mapping[str, bytes | None] = field(default_factory=dict)
