"""Reads the statements of a .sql file: native ones, and Flink's.

A bare query needs no parser. Everything else goes through the generated one (grammars/statements.lark), a
statement at a time; `statement_errors` says what is wrong where that fails, `ddl` turns a CREATE's tree into
a declaration.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from msgspec import structs

from compiler.diagnostics.codes import (
    EMPTY_FILE,
    SQL_SYNTAX,
    UNSUPPORTED_SYNTAX,
)
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.source import Span, whole_file
from compiler.diagnostics.suggest import suggest
from compiler.syntax import ddl
from compiler.syntax.declarations import ModelDecl, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.functions import create_function
from compiler.syntax.parsed import InsertDecl, Scope, unique_options
from compiler.syntax.settings import Settings
from compiler.syntax.split import Piece, split
from compiler.syntax.trees import Reader
from compiler.syntax.variables import fill_sql, replaced

QUERY_WORDS: Final = frozenset({"SELECT", "WITH", "FROM", "VALUES", "MAP", "REDUCE"})
_PARSED: Final = frozenset({"CREATE", "INSERT", "SET", "RESET", "EXECUTE", "BEGIN", "END"})
# Statements that exist in Flink or Spark and cannot mean anything in a project.
_FOREIGN: Final = {
    "DROP": "delete the definition from the file",
    "ALTER": "change the definition itself",
    "USE": "names of a project have one part; delete the statement",
    "SHOW": "`headrace ls` lists what a project defines",
    "DESCRIBE": "`headrace ls` lists what a project defines",
    "DESC": "`headrace ls` lists what a project defines",
    "EXPLAIN": "use `headrace explain`",
    "ADD": "name packages under `spark:` of the target in headrace.yml",
    "REMOVE": "name packages under `spark:` of the target in headrace.yml",
    "LOAD": "delete the statement",
    "UNLOAD": "delete the statement",
    "ANALYZE": "delete the statement",
    "CALL": "delete the statement",
    "UPDATE": "a stream is changed by what flows in: write a model",
    "DELETE": "a stream is changed by what flows in: write a model",
    "MERGE": "give the sink a PRIMARY KEY (…) NOT ENFORCED, and its rows are merged by it",
    "TRUNCATE": "`headrace run --full-refresh` empties what a sink wrote",
    "STOP": "delete the statement",
    "REFRESH": "delete the statement",
    "CACHE": "delete the statement",
}

_FOREIGN_CREATE = re.compile(
    r"CREATE\s+(?:OR\s+REPLACE\s+)?(CATALOG|DATABASE|SCHEMA|CONNECTION|MATERIALIZED|EXTERNAL|INDEX)\b",
    re.IGNORECASE,
)
# How many mistakes of one statement are put right to find the others.
_REPAIRS: Final = 10

_DECLARES = re.compile(
    r"CREATE\s+(?:\w+\s+)*?(?:SOURCE|MODEL|SINK|TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?(`[^`]+`|\"[^\"]+\"|\w+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d]\w*")


@cache
def _parser() -> Any:
    """The generated parser; most projects of many models need it, one of bare queries does not."""
    from compiler.syntax.statements_parser import Lark_StandAlone

    make: Any = Lark_StandAlone
    return make()


def _unexpected() -> type[Exception]:
    from compiler.syntax.statements_parser import UnexpectedInput

    kind: type[Exception] = UnexpectedInput
    return kind


def read_sql(whole: Fragment, scope: Scope, stem: str) -> None:
    """Reads a .sql file into its scope.

    Args:
        whole: the file's text.
        scope: takes what is found.
        stem: the file's name without extension: the name of the model that a bare query is.
    """
    filled = fill_sql(whole, scope)
    if scope.templated:
        # What such a file says is known only after its Jinja has run: any word of it may be wrong.
        scope.broken.update(name.strip('`"').lower() for name in _DECLARES.findall(filled.text))
        scope.broken.add(stem.lower())
        return
    _StatementReader(filled, scope, stem).read()


class _StatementReader:
    """Goes through the statements of a file in order, since a SET acts on those after it."""

    def __init__(self, whole: Fragment, scope: Scope, stem: str) -> None:
        self.whole = whole
        self.scope = scope
        self.stem = stem
        self.settings = Settings(scope)
        self.set_opened: Span | None = None

    def read(self) -> None:
        pieces = split(self.whole.text)
        if not pieces:
            self.scope.error(
                EMPTY_FILE,
                "the file defines nothing",
                whole_file(self.whole.file),
                fix="write a SELECT, or delete it",
            )
            return
        models_before = len(self.scope.models)
        for index, piece in enumerate(pieces):
            self._statement(piece, last=index == len(pieces) - 1)
        if self.set_opened is not None:
            self.scope.error(
                SQL_SYNTAX, "the statement set is not closed", self.set_opened, fix="end it with `END;`"
            )
        self._config(models_before)

    def _statement(self, piece: Piece, *, last: bool) -> None:
        text = self.whole.text
        if piece.unclosed is not None:
            self._unclosed(piece.unclosed)
            self._broken(text[piece.start : piece.end])
            return
        if piece.unfinished and not self._ends_well(piece):
            # The statement itself is broken; its own message says more than a missing `;`.
            return
        match = _WORD.match(text, piece.start, piece.end)
        word = match.group().upper() if match else ""
        if text[piece.start] == "(" or word in QUERY_WORDS or (word == "TABLE" and match):
            self._bare_query(piece, last=last)
        elif word in _PARSED:
            self._parsed(piece)
        elif word in _FOREIGN:
            self.scope.error(
                UNSUPPORTED_SYNTAX,
                f"{word} is no statement of a project",
                self._span(piece.start, piece.start + len(word)),
                cause="a project declares what is to run; it does not change a catalog step by step",
                fix=_FOREIGN[word],
            )
        else:
            self._unknown(piece, match.group() if match else text[piece.start])

    def _span(self, start: int, end: int) -> Span:
        return self.whole.span(start, end)

    def _unknown(self, piece: Piece, word: str) -> None:
        near = suggest(word, sorted(QUERY_WORDS | _PARSED))
        self.scope.error(
            SQL_SYNTAX,
            f"unknown statement `{word}`",
            self._span(piece.start, piece.start + len(word)),
            cause="a file holds CREATE SOURCE, MODEL or SINK, Flink's CREATE TABLE or VIEW, INSERT INTO, "
            "SET, or a SELECT",
            fix=f"did you mean `{near}`?" if near else None,
        )

    def _unclosed(self, offset: int) -> None:
        mark = self.whole.text[offset]
        what = {"'": "string", '"': "quoted name", "`": "quoted name"}.get(mark, "comment")
        line_end = self.whole.text.find("\n", offset)
        end = len(self.whole.text) if line_end < 0 else line_end
        closing = "*/" if what == "comment" else mark
        self.scope.error(
            SQL_SYNTAX,
            f"the {what} is not closed",
            self._span(offset, max(offset + 1, end)),
            label="it starts here",
            fix=f"close it with {closing}"
            if what == "comment"
            else f"close it with `{closing}`"
            if mark != "`"
            else "close it with a backquote",
        )

    def _ends_well(self, piece: Piece) -> bool:
        """Reports the missing `;` of a statement; False (with its own report) if it does not parse."""
        if self._first_word(piece) in _PARSED and self._parse(piece) is None:
            return False
        end = len(self.whole.text[piece.start : piece.end].rstrip()) + piece.start
        self.scope.error(
            SQL_SYNTAX,
            "a `;` is missing between two statements",
            self._span(end - 1, end),
            label="the statement ends here",
            fix="end it with `;`",
        )
        return True

    def _first_word(self, piece: Piece) -> str:
        match = _WORD.match(self.whole.text, piece.start, piece.end)
        return match.group().upper() if match else ""

    def _bare_query(self, piece: Piece, *, last: bool) -> None:
        body = self._query(piece.start, piece.end)
        if not last:
            self.scope.error(
                SQL_SYNTAX,
                "a query without a name must be the last statement of its file",
                self._span(piece.start, piece.start + max(1, len(self._first_word(piece)))),
                cause="it is the model of the file's name, so there can be one",
                fix="write `CREATE MODEL name AS` before it",
            )
            return
        name = Text(self.stem, self._span(piece.start, piece.start + max(1, len(self._first_word(piece)))))
        if not ddl.valid_name(name, self.scope, "the file's name is the model's name"):
            return
        options = unique_options(list(self.settings.of_body()), self.scope.error)
        self.scope.models.append(ModelDecl(name, body, options, body.span()))

    def _query(self, start: int, end: int) -> Fragment:
        body = self.whole.slice(start, end).strip()
        ddl.refuse_secrets(body, self.scope)
        return body

    def _parse(self, piece: Piece) -> tuple[Any, Reader] | None:
        """The tree of a statement and its reader.

        A mistake is reported and, where it is clear how to read on, put right in memory: so the statement's
        other mistakes are told as well, and who uses what it declares is judged by the rest of it.
        """
        statement = self.whole.slice(piece.start, piece.end)
        for _ in range(_REPAIRS):
            try:
                return _parser().parse(statement.text), Reader(statement)
            except _unexpected() as error:
                from compiler.syntax.statement_errors import explain

                diagnostic, repair = explain(error, statement)
                self.scope.reporter.add(diagnostic)
                if repair is None:
                    break
                statement = replaced(statement, repair.start, repair.end, repair.text)
        self._broken(statement.text)
        return None

    def _broken(self, text: str) -> None:
        """Remembers the name of a declaration that does not parse."""
        if match := _DECLARES.match(text):
            self.scope.broken.add(match.group(1).strip('`"').lower())

    def _parsed(self, piece: Piece) -> None:
        if match := _FOREIGN_CREATE.match(self.whole.text, piece.start, piece.end):
            what = match.group(1).upper()
            self.scope.error(
                UNSUPPORTED_SYNTAX,
                f"CREATE {what} is no statement of a project",
                self._span(match.start(), match.end()),
                fix="write CREATE VIEW" if what == "MATERIALIZED" else "delete the statement",
            )
            return
        parsed = self._parse(piece)
        if parsed is None:
            return
        tree, reader = parsed
        node = tree.children[0]
        kind = getattr(node, "data", "end")
        if kind == "create":
            ddl.create(node, reader, self.scope, self.settings)
        elif kind == "insert":
            self._insert(node, reader)
        elif kind == "set":
            self.settings.set(node, reader)
        elif kind == "reset":
            self.settings.reset(node, reader)
        elif kind == "function":
            create_function(node, reader, self.scope)
        elif kind == "begin_set":
            self._begin_set(node, reader)
        elif self.set_opened is None:
            self.scope.error(SQL_SYNTAX, "END without the begin of a statement set", reader.span(node))
        else:
            self.set_opened = None

    def _begin_set(self, node: Any, reader: Reader) -> None:
        if self.set_opened is not None:
            self.scope.error(SQL_SYNTAX, "a statement set begins inside another one", reader.span(node))
        first = [c for c in node.children if getattr(c, "data", "") == "insert"]
        tokens = [c for c in node.children if not hasattr(c, "data")]
        self.set_opened = reader.span(tokens[0]).to(reader.span(tokens[-1]))
        for insert in first:
            self._insert(insert, reader)

    def _insert(self, node: Any, reader: Reader) -> None:
        target: Text | None = None
        columns: tuple[Text, ...] = ()
        for child in node.children:
            kind = getattr(child, "data", None) or child.type
            if kind == "receiver":
                target = reader.one_part(child, self.scope)
            elif kind == "filled":
                columns = reader.names(child)
            elif kind == "partition":
                self.scope.error(
                    UNSUPPORTED_SYNTAX,
                    "INSERT with fixed partition values is not run yet",
                    reader.span(child),
                    fix="write the values as columns of the query",
                )
            elif kind == "OVERWRITE":
                self.scope.error(
                    UNSUPPORTED_SYNTAX,
                    "INSERT OVERWRITE has no streaming form",
                    reader.span(child),
                    cause="a stream adds to its sink epoch by epoch",
                    fix="write INSERT INTO; `headrace run --full-refresh` starts over",
                )
            elif kind == "QUERY" and target is not None:
                body = reader.fragment(child).strip()
                ddl.refuse_secrets(body, self.scope)
                self.scope.inserts.append(
                    InsertDecl(target, columns, body, tuple(self.settings.of_body()), reader.span(node))
                )

    def _config(self, models_before: int) -> None:
        """Gives the options of `{{ config() }}` to the file's model."""
        scope = self.scope
        if not scope.config and not scope.config_tags:
            return
        made = scope.models[models_before:]
        if len(made) != 1:
            span = scope.config[0].key.span if scope.config else scope.config_tags[0].span
            if not scope.reporter.has_errors or len(made) > 1:
                scope.reporter.add(
                    Diagnostic(
                        UNSUPPORTED_SYNTAX,
                        "config() belongs in a file with one model",
                        span,
                        fix="write the options into WITH ( ) of the statement",
                    )
                )
            return
        model = made[0]
        options = unique_options([*model.options, *scope.config], scope.error)
        scope.models[models_before] = structs.replace(
            model, options=options, tags=(*model.tags, *scope.config_tags)
        )
