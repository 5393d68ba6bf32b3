"""Flink's tables: sources or sinks by their use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from compiler.diagnostics.codes import (
    MISSING_KEY,
    SQL_SYNTAX,
    UNKNOWN_RELATION,
    UNSUPPORTED_SYNTAX,
    WRITE_TO_SOURCE,
)
from compiler.diagnostics.diagnostic import Label
from compiler.diagnostics.suggest import did_you_mean
from compiler.project.like import resolve_likes
from compiler.syntax.declarations import DeadLetters, ModelDecl, SinkDecl, SourceDecl, StepsBody, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import InsertDecl, Scope, TableDecl, unique_options

Error = Callable[..., None]
"""Reports a finding: code, message, place; cause, fix and related by name."""


class Tables:
    """Turns the tables and INSERTs of all files into sources and sinks.

    Args:
        scopes: what each file gave.
        sources, models, sinks: what is declared as such; found sources and sinks are added.
        broken: names of what could not be read, in lower case.
        error: takes what does not fit together.
        twice: reports a name that is defined a second time.
    """

    def __init__(
        self,
        scopes: Sequence[Scope],
        sources: list[SourceDecl],
        models: Sequence[ModelDecl],
        sinks: list[SinkDecl],
        broken: set[str],
        error: Error,
        twice: Callable[[Text, Text], None],
    ) -> None:
        self.scopes = scopes
        self.sources = sources
        self.models = models
        self.sinks = sinks
        self.broken = broken
        self._error = error
        self._twice = twice

    def assign(self) -> None:
        """Makes each table a source or a sink; one that is only the base of a LIKE is neither."""
        tables = self._named_tables()
        bases = {t.like.base.value.lower() for t in tables.values() if t.like is not None}
        tables = resolve_likes(tables, self.sources, self.sinks, self.broken, self._error)
        inserts: dict[str, InsertDecl] = {}
        for scope in self.scopes:
            for insert in scope.inserts:
                self._insert(insert, tables, inserts)
        dead = self._dead_letters(table for key, table in tables.items() if key not in inserts)
        for key, table in tables.items():
            written = inserts.get(key)
            if written is None and key in dead:
                self.sinks.append(_dead_letter_sink(table, dead[key]))
            elif written is not None:
                self._refuse_reads(table, written)
                self.sinks.append(_sink_of(table, written))
            elif key in bases and not self._is_named(table.name.value):
                continue
            elif table.kind == "sink":
                self._no_query(table)
            else:
                self.sources.append(_source_of(table))

    def _named_tables(self) -> dict[str, TableDecl]:
        """Tables by name in lower case."""
        tables: dict[str, TableDecl] = {}
        for scope in self.scopes:
            for table in scope.tables:
                tables.setdefault(table.name.value.lower(), table)
        # A table that stands twice is kept once above; the names' check must still see the other.
        for scope in self.scopes:
            for table in scope.tables:
                if tables[table.name.value.lower()] is not table:
                    self._twice(table.name, tables[table.name.value.lower()].name)
        return tables

    def _no_query(self, table: TableDecl) -> None:
        name = table.name.value
        if table.span.file.path.endswith((".yml", ".yaml")):
            self._error(
                MISSING_KEY,
                f"sink `{name}` has no `from`",
                table.name,
                fix="add `from:` with the name of a source or model, or `sql:` with a query",
            )
        else:
            self._error(
                SQL_SYNTAX,
                f"sink `{name}` has no query",
                table.name,
                fix=f"end it with AS and a query, or write `INSERT INTO {name} SELECT …`",
            )

    def _dead_letters(self, tables: Iterable[TableDecl]) -> dict[str, list[Text]]:
        """Names of the sources whose dead letters go to a sink, by the sink's name in lower case."""
        found: dict[str, list[Text]] = {}
        named = [(source.name, source.options) for source in self.sources]
        named += [(table.name, table.options) for table in tables]
        for name, options in named:
            for option in options:
                if option.key.value.lower().replace("-", "_") == "dead_letter":
                    found.setdefault(option.value.value.lower(), []).append(name)
        return found

    def _bodies(self) -> list[Fragment | StepsBody]:
        bodies: list[Fragment | StepsBody] = [m.body for m in self.models]
        bodies += [s.body for s in self.sinks if not isinstance(s.body, DeadLetters)]
        bodies += [i.body for scope in self.scopes for i in scope.inserts]
        return bodies

    def _is_named(self, name: str) -> bool:
        """Whether a body may read a relation: a word of it is its name."""
        word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)", re.IGNORECASE)
        for body in self._bodies():
            if isinstance(body, StepsBody):
                names = [body.source, *(r for step in body.steps for r in step.relations)]
                if any(n.value.lower() == name.lower() for n in names):
                    return True
            elif word.search(_QUIET.sub(" ", body.text)):
                return True
        return False

    def _insert(
        self, insert: InsertDecl, tables: dict[str, TableDecl], inserts: dict[str, InsertDecl]
    ) -> None:
        key = insert.target.value.lower()
        if key in tables and tables[key].kind != "source":
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
        kinds: tuple[tuple[str, Sequence[SourceDecl | ModelDecl | SinkDecl | TableDecl]], ...]
        only_read: list[SourceDecl | TableDecl] = [
            *self.sources,
            *(t for t in tables.values() if t.kind == "source"),
        ]
        kinds = (("source", only_read), ("model", self.models), ("sink", self.sinks))
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
        for body in self._bodies():
            place = _read_at(body, table.name.value)
            if place is not None:
                self._error(
                    WRITE_TO_SOURCE,
                    f"table `{table.name.value}` is both read and written",
                    place,
                    cause="a table is the input or the output of a pipeline",
                    fix="split it: make the query of its INSERT a view, read that view here, and insert "
                    "all rows of the view",
                    related=(Label(insert.target.span, "written here"),),
                )
                return


def _sink_of(table: TableDecl, insert: InsertDecl) -> SinkDecl:
    # Settings before the table and before the INSERT: those of the INSERT are of the query.
    options = unique_options([*insert.settings, *table.options], lambda *_, **__: None)
    # As in Flink, what is worked out when a table is read is no part of what is written into it.
    columns = tuple(c for c in table.columns if c.expression is None and not c.virtual)
    return SinkDecl(
        table.name,
        insert.body,
        columns,
        table.primary_key,
        table.partitioned_by,
        options,
        insert.span,
        table.description,
        insert.columns,
    )


def _dead_letter_sink(table: TableDecl, sources: Sequence[Text]) -> SinkDecl:
    return SinkDecl(
        table.name,
        DeadLetters(tuple(sources), table.span),
        table.columns,
        table.primary_key,
        table.partitioned_by,
        table.options,
        table.span,
        table.description,
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
