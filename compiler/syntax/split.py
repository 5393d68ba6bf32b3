"""Cuts the text of a .sql file into its statements.

One regular expression knows strings, names and comments; nothing else matters for where a `;` ends a
statement. Each statement is then parsed on its own, so that a mistake in one does not hide those of others.
"""

from __future__ import annotations

import re

from compiler.frozen import frozen

# A lone backslash is a whole string where a `,` or `)` follows ('csv.escape-character' = '\'); elsewhere a
# backslash escapes what follows, as in Spark. A statement that begins on a line of its own without a `;`
# before it is cut off as well. The possessive quantifiers keep an unclosed quote from backtracking.
_TOKEN = re.compile(
    r"""
      (?P<skip> --[^\n]* | /\*[\s\S]*?\*/
        | '\\'(?=\s*[,)]) | '(?:[^'\\]++|\\[\s\S]|'')*+' | "(?:[^"\\]++|\\[\s\S]|"")*+" | `(?:[^`]++|``)*+` )
    | (?P<end> ; )
    | (?P<start> ^[ \t]*(?:
          CREATE\s+(?:OR\s+REPLACE|TEMPORARY|SOURCE|MODEL|SINK|TABLE|VIEW|FUNCTION)\b
        | INSERT\s+(?:INTO|OVERWRITE)\b | EXECUTE\s+STATEMENT\s+SET\b | SET\s+'[^'\n]*'\s*= ) )
    | (?P<open> ['"`] | /\* )
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)

# What may stand before a statement on a line of its own and still belong to it.
_PREFIX = re.compile(
    r"(?:\s|--[^\n]*|/\*[\s\S]*?\*/)*(?:EXECUTE(?:\s+STATEMENT\s+SET\s+BEGIN)?)?\s*", re.IGNORECASE
)

SPACE = re.compile(r"(?:\s+|--[^\n]*|/\*[\s\S]*?\*/)*")


@frozen(slots=True)
class Piece:
    """The characters [start, end) of one statement.

    `unfinished` tells that another statement began before a `;` came; `unclosed` is the offset of a quote or
    a comment that nothing closes.
    """

    start: int
    end: int
    unfinished: bool = False
    unclosed: int | None = None


def split(text: str) -> list[Piece]:
    """The statements of a text, without those that hold only comments."""
    pieces: list[Piece] = []
    start = 0

    def cut(end: int, unfinished: bool = False, unclosed: int | None = None) -> None:
        begin = skip_space(text, start, end)
        if begin < end:
            pieces.append(Piece(begin, end, unfinished, unclosed))

    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        kind = match.lastgroup
        if kind == "skip" and _swallows(match.group()):
            kind = "open"
        if kind == "end":
            cut(match.start())
            start = position
        elif kind == "start":
            prefix = _PREFIX.match(text, start, match.start())
            if prefix is None or prefix.end() != match.start():
                cut(match.start(), unfinished=True)
                start = match.start()
        elif kind == "open":
            # Where it was meant to end nobody knows: the next statement that begins a line is a safe guess.
            unclosed = _culprit(text, start, match)
            cut_at = _next_start(text, unclosed + 1)
            cut(cut_at, unclosed=unclosed)
            start = position = cut_at
    cut(len(text))
    return pieces


def skip_space(text: str, start: int, end: int) -> int:
    """The offset of the first character that is neither white space nor a comment."""
    match = SPACE.match(text, start, end)
    return match.end() if match else start


def _culprit(text: str, start: int, match: re.Match[str]) -> int:
    """The quote that is really unclosed.

    One missing quote turns strings inside out up to the end of the file. Strings of one line are the rule, so
    the first of the statement that runs over a line's end is the one.
    """
    if match.group()[0] != "'":
        return match.start()
    for string in _TOKEN.finditer(text, start, match.start()):
        found = string.group("skip")
        if found and found[0] == "'" and "\n" in found:
            return string.start()
    return match.start()


def _swallows(found: str) -> bool:
    """Whether a string runs over the begin of another statement: then a quote is missing before it."""
    return found[0] == "'" and "\n" in found and _STATEMENT.search(found) is not None


def _next_start(text: str, position: int) -> int:
    """Where the next statement begins a line, or the end of the text."""
    match = _STATEMENT.search(text, position)
    return match.start() if match else len(text)


_STATEMENT = re.compile(r"^(?:CREATE|INSERT|EXECUTE|SET|SELECT|WITH)\s+\w", re.MULTILINE | re.IGNORECASE)
