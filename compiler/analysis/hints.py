"""Hints: `/*+ STATE_TTL('o' = '1 d') */` behind SELECT, `/*+ OPTIONS('path' = '…') */` behind a source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.analysis.catalog import Relation
from compiler.analysis.places import tree_offsets
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.syntax.declarations import OptionDecl, Text
from compiler.syntax.durations import parse_duration_ms

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

# Advice of Spark's and Flink's that the plan follows already, or need not: a seed is always broadcast.
_PASSED_OVER: Final = frozenset({"BROADCAST", "BROADCASTJOIN", "MAPJOIN", "LOOKUP"})
_KNOWN: Final = ("STATE_TTL", "OPTIONS", *sorted(_PASSED_OVER))
_OF_SELECT = re.compile(r"SELECT\s*/\*\+(.*?)\*/", re.IGNORECASE | re.DOTALL)
_OF_TABLE = re.compile(r"\s*/\*\+\s*(\w+)\s*(?:\((.*?)\))?\s*\*/", re.DOTALL)
_PAIR = re.compile(r"'((?:[^']|'')*)'\s*=\s*'((?:[^']|'')*)'")


@contextmanager
def select_hints(binder: QueryBinder, tree: exp.Select) -> Iterator[None]:
    """Lets the hints of a SELECT act on its own operators, and not on those of queries inside.

    Raises:
        DiagnosticError: a TTL that is no duration (HR104).
    """
    outer = binder.builder.options
    ttl = _state_ttl(binder, tree)
    binder.builder.options = (
        replace(binder.model_options, state_ttl_ms=ttl) if ttl is not None else binder.model_options
    )
    try:
        yield
    finally:
        binder.builder.options = outer


def _state_ttl(binder: QueryBinder, tree: exp.Select) -> int | None:
    """Milliseconds that STATE_TTL says, the longest of several; other hints are judged."""
    hint = tree.args.get("hint")
    longest: int | None = None
    for part in hint.expressions if hint is not None else ():
        name = part.name.upper() if isinstance(part, (exp.Var, exp.Column)) else str(part.this).upper()
        if name != "STATE_TTL":
            _judge(binder, name, _place(binder, tree, name))
            continue
        for pair in part.expressions:
            milliseconds = parse_duration_ms(pair.expression.name) if isinstance(pair, exp.EQ) else None
            if milliseconds is None:
                fix = "write STATE_TTL('relation' = '1 d')"
                message = "STATE_TTL takes a duration for each relation"
                raise binder.error(codes.WRONG_VALUE, message, pair, fix=fix)
            longest = max(milliseconds, longest or 0)
    return longest


def _place(binder: QueryBinder, tree: exp.Select, name: str) -> Span:
    """Where a hint behind SELECT is written: sqlglot keeps no place of its name."""
    for found in _OF_SELECT.finditer(binder.fragment.text):
        word = re.search(rf"\b{re.escape(name)}\b", found[1], re.IGNORECASE)
        if word is not None:
            start = found.start(1) + word.start()
            return binder.fragment.span(start, start + len(name))
    return binder.span(tree)


def _judge(binder: QueryBinder, name: str, span: Span) -> None:
    if name in _PASSED_OVER:
        return
    fix = did_you_mean(name, _KNOWN) if name not in _KNOWN else "write it behind the name of a source"
    binder.reporter.add(
        Diagnostic(
            codes.UNKNOWN_HINT,
            f"hint `{name}` has no effect here",
            span,
            fix=fix or f"hints are {', '.join(_KNOWN)}",
        )
    )


def hinted_relation(binder: QueryBinder, relation: Relation, tree: exp.Expr) -> Relation:
    """The relation as the OPTIONS behind its name want it read.

    Raises:
        DiagnosticError, Poisoned: as for the source's own options.
    """
    place = _end_of_name(tree)
    found = _OF_TABLE.match(binder.fragment.text, place) if place is not None else None
    if found is None:
        return relation
    name, span = found[1].upper(), binder.fragment.span(found.start(1), found.end())
    if name != "OPTIONS" or relation.with_options is None:
        _judge(binder, name, span)
        return relation
    start, end = found.span(2)
    options = [_option(binder, pair) for pair in _PAIR.finditer(binder.fragment.text, start, end)]
    return replace(relation, node=relation.with_options(tuple(options)))


def _end_of_name(tree: exp.Expr) -> int | None:
    last = tree.parts[-1] if isinstance(tree, (exp.Table, exp.Column)) else tree
    offsets = tree_offsets(last)
    return offsets[1] if offsets is not None else None


def _option(binder: QueryBinder, pair: re.Match[str]) -> OptionDecl:
    def text(group: int) -> Text:
        span = binder.fragment.span(pair.start(group) - 1, pair.end(group) + 1)
        return Text(pair[group].replace("''", "'"), span, True)

    return OptionDecl(text(1), text(2))
