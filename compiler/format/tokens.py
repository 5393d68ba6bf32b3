"""The tokens of SQL as far as layout needs them. All text but white space is in one of them."""

from __future__ import annotations

import re
from typing import Final, Literal

from compiler.frozen import frozen

Kind = Literal["word", "number", "string", "template", "line_comment", "block_comment", "symbol"]


@frozen(slots=True)
class Token:
    """A token.

    Args:
        kind: what it is.
        text: its characters.
        lines: how many line ends stand before it.
        spaced: whether white space stands before it.
    """

    kind: Kind
    text: str
    lines: int = 0
    spaced: bool = False

    @property
    def upper(self) -> str:
        """A word in capitals; empty for all else."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def is_comment(self) -> bool:
        """Whether it says nothing to the compiler."""
        return self.kind in ("line_comment", "block_comment")


_TOKEN: Final = re.compile(
    r"""
      (?P<line_comment> --[^\n]* )
    | (?P<block_comment> /\*[\s\S]*?\*/ )
    | (?P<string>
          '\\'(?=\s*[,)]) | '(?:[^'\\]++|\\[\s\S]|'')*+'
        | "(?:[^"\\]++|\\[\s\S]|"")*+" | `(?:[^`]++|``)*+` )
    | (?P<template> \$?\$\{[^}\n]*\} | \{\{[\s\S]*?\}\} | \{%[\s\S]*?%\} | \{\#[\s\S]*?\#\} )
    | (?P<number> (?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[A-Za-z]* )
    | (?P<word> [^\W\d]\w* )
    | (?P<symbol> <=> | <> | != | <= | >= | == | => | -> | :: | \|\| | && | \S )
    """,
    re.VERBOSE,
)
_SPACE: Final = re.compile(r"\s*")


class UnreadableError(Exception):
    """The text is not laid out: a string, a comment or a bracket is not closed."""


def tokens(text: str) -> list[Token]:
    """The tokens of a text.

    Raises:
        UnreadableError: a string or a comment has no end.
    """
    found: list[Token] = []
    position = 0
    while True:
        space = _SPACE.match(text, position)
        assert space is not None
        position = space.end()
        if position == len(text):
            return found
        match = _TOKEN.match(text, position)
        if (
            match is None
            or match.group() in ("'", '"', "`")
            or (text.startswith("/*", position) and (match.lastgroup != "block_comment"))
        ):
            raise UnreadableError(f"offset {position}")
        kind: Kind = match.lastgroup  # type: ignore[assignment]  # the names of the groups are the kinds
        found.append(Token(kind, match.group().rstrip(), space.group().count("\n"), bool(space.group())))
        position = match.end()


def meaning(found: list[Token]) -> list[tuple[str, str]]:
    """What must not change: the tokens without the case of words that may be keywords."""
    return [(t.kind, t.text.upper() if t.upper in KEYWORDS else t.text) for t in found]


# Words that are written in capitals where they are keywords; `tree.is_keyword` looks at what stands around.
KEYWORDS: Final = frozenset(
    """
    ALL AND ANTI AS ASC BEGIN BETWEEN BY CASE CAST CREATE CROSS CUMULATE CURRENT DESC DESCRIPTOR
    DISTINCT ELSE END ENFORCED EXCEPT EXECUTE EXISTS FALSE FILTER FOLLOWING FOR FROM FULL FUNCTION
    GROUP HAVING HOP IF IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN KEY LATERAL LEFT LIKE LIMIT
    METADATA MODEL NOT NULL NULLS OF OFFSET ON OR ORDER OUTER OVER PARTITION PARTITIONED PRECEDING
    PRIMARY QUALIFY RANGE REPLACE RIGHT ROW ROWS SELECT SEMI SESSION SET SINK SOURCE STATEMENT
    SYSTEM_TIME TABLE TEMPORARY THEN TRUE TUMBLE UNBOUNDED UNION USING VIEW VIRTUAL WATERMARK WHEN
    WHERE WITH
    """.split()
)
