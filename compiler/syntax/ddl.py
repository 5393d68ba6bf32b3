"""Turns the tree of a CREATE statement into a declaration."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from compiler.diagnostics.codes import SQL_SYNTAX, UNSUPPORTED_SYNTAX, WRONG_VALUE
from compiler.diagnostics.diagnostic import Label
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import (
    ColumnDecl,
    ModelDecl,
    OptionDecl,
    SinkDecl,
    SourceDecl,
    Text,
    WatermarkDecl,
)
from compiler.syntax.fragment import Fragment
from compiler.syntax.like import read_like
from compiler.syntax.parsed import InsertDecl, LikeDecl, Scope, TableDecl, unique_options
from compiler.syntax.settings import Settings
from compiler.syntax.trees import Reader, subtrees, tokens

_NAME = re.compile(r"[^\W\d][\w$-]*")


def valid_name(name: Text, scope: Scope, cause: str | None = None) -> bool:
    """Whether a text can name a source, model, sink or seed; reports it if not."""
    if _NAME.fullmatch(name.value):
        return True
    scope.error(
        WRONG_VALUE,
        f"`{name.value}` cannot be a name",
        name.span,
        cause=cause,
        fix="begin with a letter or `_`, go on with letters, digits, `_` and `-`",
    )
    return False


def refuse_secrets(body: Fragment, scope: Scope) -> None:
    """Reports `${env:…}` outside of options."""
    at = body.text.find("${env:")
    if at >= 0:
        end = body.text.find("}", at)
        scope.error(
            UNSUPPORTED_SYNTAX,
            "an environment reference stands in a query",
            body.span(at, end + 1 if end >= 0 else len(body.text)),
            cause="secrets are read when a run starts and never become part of a plan",
            fix="use it in an option's value, or pass a variable with `--vars`",
        )


@dataclass(slots=True)
class _Parts:
    """What a CREATE statement holds."""

    columns: list[ColumnDecl] = field(default_factory=list)
    watermarks: list[WatermarkDecl] = field(default_factory=list)
    primary_key: tuple[Text, ...] = ()
    key_span: Span | None = None
    columns_span: Span | None = None
    options: list[OptionDecl] = field(default_factory=list)
    partitioned_by: tuple[Text, ...] = ()
    comment: Text | None = None
    body: Fragment | None = None
    like: LikeDecl | None = None
    seen: dict[str, Span] = field(default_factory=dict)


def create(node: Any, reader: Reader, scope: Scope, settings: Settings) -> None:
    """Reads a CREATE SOURCE, MODEL, SINK, TABLE or VIEW."""
    kind = reader.one(subtrees(node, "kind")[0]).value.upper()
    name = reader.one_part(subtrees(node, "identifier")[0], scope)
    if not valid_name(name, scope):
        return
    parts = _Parts()
    for child in node.children:
        _take(child, parts, reader, scope)
    span = reader.span(node)
    if kind in ("MODEL", "VIEW"):
        _model(kind, name, parts, span, scope, settings)
    elif kind == "SOURCE":
        _source(name, parts, span, scope, settings)
    else:
        _table_or_sink(kind, name, parts, span, scope, settings)


def _take(child: Any, parts: _Parts, reader: Reader, scope: Scope) -> None:
    kind = getattr(child, "data", None)
    if kind is None or kind in ("kind", "identifier"):
        return
    if kind in parts.seen:
        word = {"with": "WITH", "comment": "COMMENT", "partitioned": "PARTITIONED BY"}.get(kind, kind.upper())
        scope.error(
            SQL_SYNTAX,
            f"{word} stands twice in one statement",
            reader.span(child),
            related=(Label(parts.seen[kind], "first here"),),
        )
        return
    span = reader.span(child)
    parts.seen[kind] = span
    if kind == "columns":
        parts.columns_span = span
        for element in child.children:
            if hasattr(element, "data"):
                _element(element, parts, reader, scope)
    elif kind == "with":
        parts.options.extend(reader.options(child.children[1]))
    elif kind == "comment":
        parts.comment = reader.text(child.children[1])
    elif kind == "partitioned":
        parts.partitioned_by = reader.names(child.children[1])
    elif kind == "query":
        parts.body = reader.fragment(child.children[1]).strip()
        refuse_secrets(parts.body, scope)
    elif kind == "like":
        parts.like = read_like(child, reader, scope)
    elif kind == "distributed":
        scope.error(
            UNSUPPORTED_SYNTAX,
            "DISTRIBUTED has no meaning here",
            span,
            cause="no connector has buckets",
            fix="use PARTITIONED BY, or leave it out",
        )


def _element(node: Any, parts: _Parts, reader: Reader, scope: Scope) -> None:
    kind = node.data
    if kind == "watermark":
        column = reader.one_part(subtrees(node, "identifier")[0], scope)
        expression = reader.fragment(subtrees(node, "expression")[0])
        parts.watermarks.append(WatermarkDecl(column, expression, None, reader.span(node)))
        return
    if kind == "primary_key":
        _primary_key(reader.names(subtrees(node, "names")[0]), reader.span(node), parts, scope)
        return
    name = reader.one(node.children[0])
    comments = tokens(node, "STRING")
    comment = reader.text(comments[0]).value if comments else None
    if kind == "computed":
        expression = reader.fragment(subtrees(node, "expression")[0])
        parts.columns.append(ColumnDecl(name, None, expression=expression, comment=comment))
    elif kind == "bare":
        parts.columns.append(ColumnDecl(name, None, comment=comment))
    else:
        parts.columns.append(_typed(node, name, parts, reader, scope))


def _typed(node: Any, name: Text, parts: _Parts, reader: Reader, scope: Scope) -> ColumnDecl:
    not_null, virtual = False, False
    comment: str | None = None
    metadata: Text | None = None
    for constraint in subtrees(node, "constraint"):
        word = constraint.children[0].type
        if word == "NOT_NULL":
            not_null = True
        elif word == "PRIMARY_KEY":
            not_null = True
            _primary_key((name,), reader.span(constraint), parts, scope)
        elif word == "COMMENT":
            comment = reader.text(constraint.children[1]).value
        elif word == "METADATA":
            keys = tokens(constraint, "STRING")
            metadata = reader.text(keys[0]) if keys else name
            virtual = bool(tokens(constraint, "VIRTUAL"))
    type_ = reader.fragment(subtrees(node, "type")[0])
    return ColumnDecl(name, type_, not_null, None, metadata, virtual, comment)


def _primary_key(names: tuple[Text, ...], span: Span, parts: _Parts, scope: Scope) -> None:
    if parts.key_span is not None:
        scope.error(
            SQL_SYNTAX,
            "a second PRIMARY KEY",
            span,
            fix="name all its columns in one: PRIMARY KEY (a, b) NOT ENFORCED",
            related=(Label(parts.key_span, "the first is here"),),
        )
        return
    parts.primary_key, parts.key_span = names, span


def _refuse_bare(parts: _Parts, scope: Scope) -> None:
    for column in parts.columns:
        if column.type is None and column.expression is None:
            scope.error(
                SQL_SYNTAX,
                f"column `{column.name.value}` has no type",
                column.name.span,
                label="expected a type after it",
                fix=f"write `{column.name.value} STRING`, or `{column.name.value} AS` and an expression",
            )


def _comment(parts: _Parts) -> str | None:
    return parts.comment.value if parts.comment else None


def _model(kind: str, name: Text, parts: _Parts, span: Span, scope: Scope, settings: Settings) -> None:
    for what, place in (("PARTITIONED BY", parts.seen.get("partitioned")), ("PRIMARY KEY", parts.key_span)):
        if place:
            scope.error(SQL_SYNTAX, f"a {kind.lower()} has no {what}", place, fix="write it on the sink")
    for watermark in parts.watermarks:
        scope.error(
            SQL_SYNTAX,
            f"a {kind.lower()} has no watermark of its own",
            watermark.span,
            fix="write it on the source; windows of windows go on `window_time`",
        )
    if parts.like is not None:
        scope.error(
            SQL_SYNTAX,
            f"a {kind.lower()} has no LIKE",
            parts.like.span,
            cause="its columns are those of its query",
            fix="write LIKE on a source, a sink or a table",
        )
    if parts.body is None:
        _no_query(kind, name, span, scope)
        return
    options = unique_options([*settings.of_body(), *parts.options], scope.error)
    scope.models.append(
        ModelDecl(name, parts.body, options, span, tuple(parts.columns), _comment(parts), by_position=True)
    )


def _no_query(kind: str, name: Text, span: Span, scope: Scope) -> None:
    end = Span(span.file, max(span.start, span.end - 1), span.end)
    scope.error(
        SQL_SYNTAX,
        f"{kind.lower()} `{name.value}` has no query",
        end,
        label="expected AS and a query after this",
        fix=f"write `CREATE {kind} {name.value} … AS SELECT …`",
    )


def _source(name: Text, parts: _Parts, span: Span, scope: Scope, settings: Settings) -> None:
    _refuse_bare(parts, scope)
    if parts.body is not None:
        scope.error(
            SQL_SYNTAX,
            f"source `{name.value}` has a query",
            parts.seen["query"],
            cause="a source reads a connector",
            fix="write CREATE MODEL for a query",
        )
    if parts.like is not None:
        scope.tables.append(_table("source", name, parts, span, scope, settings))
        return
    options = unique_options([*settings.of_source(), *parts.options], scope.error)
    scope.sources.append(
        SourceDecl(
            name,
            tuple(parts.columns),
            tuple(parts.watermarks),
            parts.primary_key,
            options,
            span,
            parts.partitioned_by,
            _comment(parts),
        )
    )


def _table_or_sink(
    kind: str, name: Text, parts: _Parts, span: Span, scope: Scope, settings: Settings
) -> None:
    _refuse_bare(parts, scope)
    if parts.body is not None:
        _refuse_read_only(parts, scope)
    if parts.body is not None and parts.like is not None:
        # What it takes over is known once all files are read; until then it is a table with its INSERT.
        scope.tables.append(_table("sink", name, parts, span, scope, settings))
        scope.inserts.append(InsertDecl(name, (), parts.body, tuple(settings.of_body()), span))
    elif parts.body is not None:
        options = unique_options([*settings.of_body(), *parts.options], scope.error)
        scope.sinks.append(
            SinkDecl(
                name,
                parts.body,
                tuple(parts.columns),
                parts.primary_key,
                parts.partitioned_by,
                options,
                span,
                _comment(parts),
            )
        )
    else:
        scope.tables.append(_table(kind.lower(), name, parts, span, scope, settings))


def _table(kind: str, name: Text, parts: _Parts, span: Span, scope: Scope, settings: Settings) -> TableDecl:
    return TableDecl(
        name,
        kind,
        tuple(parts.columns),
        tuple(parts.watermarks),
        parts.primary_key,
        unique_options(parts.options, scope.error),
        tuple(settings.of_source()),
        span,
        parts.partitioned_by,
        _comment(parts),
        parts.like,
    )


def _refuse_read_only(parts: _Parts, scope: Scope) -> None:
    """Reports what works when a table is read, and can have no effect where its own query writes it."""
    for column in parts.columns:
        if column.expression is not None:
            scope.error(
                SQL_SYNTAX,
                f"column `{column.name.value}` of a sink is computed",
                column.name.span,
                cause="a computed column is worked out when a table is read",
                fix="write the expression in the query",
            )
    for watermark in parts.watermarks:
        scope.error(
            SQL_SYNTAX,
            "a sink has no watermark",
            watermark.span,
            cause="event time begins at the source",
            fix="write it on the source",
        )
