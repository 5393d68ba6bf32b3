"""Statements that are laid out anew and read again are the same statements.

Random ones are made of words, so that white space, comments and the case of keywords can be anything. They
are compared as what is read of them: declarations without their places, queries and expressions as trees.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from compiler.diagnostics.diagnostic import DiagnosticError, Reporter
from compiler.diagnostics.render import render_all
from compiler.diagnostics.source import SourceFile, Span
from compiler.format import format_sql
from compiler.format.tokens import tokens
from compiler.syntax.dialect import parse_expression, parse_query
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import Scope
from compiler.syntax.statements import read_sql

Words = list[str]
Made = Callable[[Random], Words]


def meaning(text: str) -> list[Any]:
    """What is read of a file."""
    file = SourceFile("models/x.sql", text)
    scope = Scope(file, {}, Reporter())
    read_sql(Fragment.plain(file, 0, len(text)), scope, "x")
    assert not scope.reporter.has_errors, text + render_all(scope.reporter.all())
    kinds = (scope.sources, scope.models, scope.sinks, scope.tables, scope.inserts, scope.functions)
    return [_plain(value) for kind in kinds for value in kind]


def _words(text: str) -> str:
    return " ".join(token.text.upper() for token in tokens(text) if not token.is_comment)


def _plain(value: object) -> Any:
    if isinstance(value, Span):
        return None
    if isinstance(value, Fragment):
        for parse in (parse_query, parse_expression):
            try:
                tree = parse(value).tree
            except DiagnosticError:
                continue
            # A type in a tree is the place of its text.
            return re.sub(
                r"DECIMAL\((\d+), (\d+)\)",
                lambda place: _words(value.text[int(place[1]) : int(place[2])]),
                tree.sql(comments=False),
            )
        return _words(value.text)
    if isinstance(value, Struct):
        return type(value).__name__, [(f.name, _plain(getattr(value, f.name))) for f in fields(value)]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def listed(items: list[Words]) -> Words:
    """Items with commas between."""
    return [word for number, item in enumerate(items) for word in ([",", *item] if number else item)]


def pick(*choices: Words | str) -> Made:
    """One of them; a text is a word."""
    return lambda chance: [chosen] if isinstance(chosen := chance.choice(choices), str) else chosen


def either(*makers: Made) -> Made:
    return lambda chance: chance.choice(makers)(chance)


def maybe(maker: Made) -> Made:
    return lambda chance: maker(chance) if chance.random() < 0.4 else []


def lists(maker: Made, most: int = 3) -> Made:
    return lambda chance: listed([maker(chance) for _ in range(chance.randint(1, most))])


def joined(*parts: Made | Words) -> Made:
    """Parts one behind the other."""
    return lambda chance: [
        word for part in parts for word in (part if isinstance(part, list) else part(chance))
    ]


NAMES = pick("a", "price", "Total", "`order`", "`a b`", "ts", "window_start", "`it``s`")
TABLES = pick("orders", "Clicks", "`order`")
PLAIN_TYPES = pick(
    ["BIGINT"],
    ["STRING"],
    ["DECIMAL", "(", "10", ",", "2", ")"],
    ["TIMESTAMP"],
    ["ARRAY", "<", "INT", ">"],
    ["MAP", "<", "STRING", ",", "ARRAY", "<", "INT", ">", ">"],
)
TYPES = either(
    PLAIN_TYPES, pick(["TIMESTAMP", "(", "3", ")"], ["ROW", "<", "x", "INT", ",", "y", "STRING", ">"])
)
LITERALS = pick("1", "2.50", "1e3", "'it''s'", "'-- no'", "'/* no */'", "NULL", "TRUE", "'é\n'")
INTERVALS = pick(["INTERVAL", "'5'", "SECOND"], ["INTERVAL", "'1'", "MINUTE"], ["INTERVAL", "2", "HOURS"])
INFIX = pick("+", "-", "*", "/", "%", "=", "<>", "<=", "||", "AND", "OR")


def value(chance: Random) -> Words:
    """An expression; the deeper, the rarer."""
    if chance.random() < 0.55:
        return either(NAMES, LITERALS, joined(["o", "."], NAMES))(chance)
    inner = value
    bracketed = joined(["("], inner, [")"])
    return either(
        joined(bracketed, INFIX, bracketed),
        joined(["-"], bracketed),
        joined(["NOT"], bracketed),
        joined(bracketed, ["IS", "NOT", "NULL"]),
        joined(bracketed, ["BETWEEN"], LITERALS, ["AND"], LITERALS),
        joined(bracketed, ["NOT", "IN", "("], lists(LITERALS), [")"]),
        joined(bracketed, ["LIKE"], ["'a%'"]),
        joined(["CAST", "("], inner, ["AS"], PLAIN_TYPES, [")"]),
        joined(["CASE", "WHEN"], inner, ["THEN"], inner, maybe(joined(["ELSE"], inner)), ["END"]),
        joined(pick("count", "coalesce", "upper", "my_own"), ["("], lists(inner), [")"]),
        joined(["sum", "("], inner, [")", "FILTER", "(", "WHERE"], inner, [")"]),
        joined(["transform", "("], inner, [",", "x", "->"], inner, [")"]),
    )(chance)  # fmt: skip


BY_TIME = [",", "DESCRIPTOR", "(", "ts", ")", ","]
WINDOWS = either(
    joined(["TUMBLE", "(", "TABLE"], TABLES, BY_TIME, INTERVALS, [")"]),
    joined(["HOP", "(", "TABLE"], TABLES, BY_TIME, INTERVALS, [","], INTERVALS, [")"]),
)  # fmt: skip
ALIASES = joined(["AS"], NAMES)
RELATIONS = joined(either(TABLES, WINDOWS), maybe(pick(["AS", "o"])))
JOINS = joined(
    pick(["JOIN"], ["LEFT", "JOIN"], ["FULL", "OUTER", "JOIN"]),
    TABLES, ["AS", "p", "ON"], value,
)  # fmt: skip
SELECTS = joined(
    ["SELECT"], maybe(pick(["DISTINCT"])), lists(either(joined(value, maybe(ALIASES)), pick("*"))),
    ["FROM"], RELATIONS, maybe(JOINS), maybe(joined(["WHERE"], value)),
    maybe(joined(["GROUP", "BY"], lists(NAMES), maybe(joined(["HAVING"], value)))),
)  # fmt: skip
QUERIES = either(
    SELECTS,
    joined(SELECTS, ["UNION", "ALL"], SELECTS),
    joined(["WITH", "t", "AS", "("], SELECTS, [")"], SELECTS),
    joined(["SELECT", "*", "FROM", "("], SELECTS, [")", "AS", "s"]),
)
OPTIONS = joined(
    ["WITH", "("],
    pick(["'path'", "=", "'a/b'"], ["format", "=", "'json'"]),
    maybe(pick([",", "'a.b-c'", "=", "'1'"])),
    [")"],
)
COLUMNS = joined(NAMES, TYPES, maybe(pick(["NOT", "NULL"])), maybe(pick(["COMMENT", "'what; it -- is'"])))
COMPUTED = joined(NAMES, ["AS"], value)
WATERMARKS = joined([",", "WATERMARK", "FOR", "ts", "AS", "ts", "-"], INTERVALS)
KEYS = joined([",", "PRIMARY", "KEY", "("], NAMES, [")", "NOT", "ENFORCED"])
TABLE = joined(["("], lists(either(COLUMNS, COMPUTED)), maybe(WATERMARKS), maybe(KEYS), [")"])
STATEMENTS = either(
    joined(["CREATE", "SOURCE"], TABLES, TABLE, OPTIONS),
    joined(["CREATE", "TABLE"], TABLES, TABLE, OPTIONS),
    joined(["CREATE", "TEMPORARY", "VIEW"], TABLES, ["AS"], QUERIES),
    joined(["CREATE", "MODEL"], TABLES, ["AS"], QUERIES),
    joined(["CREATE", "SINK"], TABLES, OPTIONS, ["AS"], QUERIES),
    joined(["INSERT", "INTO"], TABLES, maybe(joined(["("], lists(NAMES), [")"])), QUERIES),
)  # fmt: skip

GLUE = (" ", " ", " ", "\n", "\t", "  ", " /* why */ ", "\n-- so it is\n", "\n\n")
PLAIN = frozenset(".(),;")


def text_of(chance: Random) -> str:
    """Statements with anything between their words."""
    made: list[str] = []
    for _ in range(chance.randint(1, 3)):
        for word in [*STATEMENTS(chance), ";"]:
            keyword = word.isupper() and word.isalpha()
            glue = "" if word in PLAIN and chance.random() < 0.5 else chance.choice(GLUE)
            made += [glue, word.lower() if keyword and chance.random() < 0.5 else word]
    return "".join(made)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_what_is_laid_out_is_read_as_before(seed: int) -> None:
    text = text_of(Random(seed))
    made = format_sql(text)
    assert meaning(made) == meaning(text), made
    assert format_sql(made) == made
