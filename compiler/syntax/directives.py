"""Comments that speak to headrace: `-- headrace: allow HR310` and, in YAML, `# headrace: allow HR310`.

Behind something on its line, a comment is about that line. Alone on its line it is about what comes next: the
whole statement or YAML entry that begins there, else that line. Text after the codes is a reason for readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from compiler.diagnostics.codes import DIRECTIVE
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.policy import Allow
from compiler.diagnostics.source import SourceFile, Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.syntax.split import split

ACTIONS: Final = ("allow",)

_MARK: Final = "headrace:"
_SQL_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*[\s\S]*?\*/)|'(?:[^'\\]++|\\[\s\S]|'')*+'|\"(?:[^\"\\]++|\\[\s\S]|\"\")*+\"|`[^`]*`"
)
# A `#` begins a comment in YAML at a line's start or after white space, outside of quotes.
_YAML_TOKEN = re.compile(
    r"(?P<comment>(?:^|(?<=[ \t]))\#[^\n]*)|(?<=[\s:\-,\[{])'(?:[^'\n]|'')*'"
    r"|(?<=[\s:\-,\[{])\"(?:[^\"\\\n]|\\.)*\"",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"[-/*#\s]*headrace:[ \t]*(?P<action>[\w-]*)(?P<rest>[^\n]*)", re.IGNORECASE)
_CODE = re.compile(r"[,\s]*([A-Za-z]{1,4}-?\d{1,4})\b")


def directives(file: SourceFile, reporter: Reporter) -> Iterator[Allow]:
    """What the comments of a file silence; one that cannot be understood is reported."""
    if _MARK not in file.text.lower():
        return
    is_sql = file.path.endswith(".sql")
    for match in (_SQL_TOKEN if is_sql else _YAML_TOKEN).finditer(file.text):
        comment = match.group("comment")
        found = _DIRECTIVE.match(comment) if comment else None
        if found is None:
            continue
        at = match.start()
        codes = list(_codes(found))
        action = found["action"].lower()
        if action not in ACTIONS or not codes:
            reporter.add(_wrong(file, at, found))
            continue
        region = _region(file, match.start(), match.end(), is_sql=is_sql)
        for code, start in codes:
            yield Allow(code, Span(file, at + start, at + start + len(code)), region)


def _codes(found: re.Match[str]) -> Iterator[tuple[str, int]]:
    """The codes after the action, each with its offset in the comment."""
    at = found.start("rest")
    while code := _CODE.match(found.string, at, found.end("rest")):
        yield code.group(1), code.start(1)
        at = code.end()


def _wrong(file: SourceFile, at: int, found: re.Match[str]) -> Diagnostic:
    action = found["action"]
    if action.lower() in ACTIONS:
        message, near = f"`{action}` names no code", None
        start, end = found.start("action"), found.end("action")
    else:
        message = f"a comment cannot ask for `{action}`" if action else "the comment asks for nothing"
        near = did_you_mean(action, ACTIONS) if action else None
        start = found.start("action") if action else found.string.lower().index(_MARK)
        end = found.end("action") if action else start + len(_MARK)
    fix = near or "write for instance `headrace: allow HR310`"
    return Diagnostic(DIRECTIVE, message, Span(file, at + start, at + end), fix=fix)


def _region(file: SourceFile, start: int, end: int, *, is_sql: bool) -> Span:
    text = file.text
    line_start = text.rfind("\n", 0, start) + 1
    line_end = _line_end(text, end)
    if text[line_start:start].strip():
        return Span(file, line_start, line_end)
    comment = r"(?:[ \t]*(?:--[^\n]*)?\n)*" if is_sql else r"(?:[ \t]*(?:\#[^\n]*)?\n)*"
    skipped = re.compile(comment).match(text, min(len(text), line_end + 1))
    following = skipped.end() if skipped else line_end
    if is_sql:
        for piece in split(text):
            if following <= piece.start and not text[following : piece.start].strip():
                return Span(file, line_start, piece.end)
        return Span(file, line_start, _line_end(text, following))
    return Span(file, line_start, _block_end(text, following))


def _block_end(text: str, start: int) -> int:
    """The end of the YAML entry that begins in the line at `start`: the deeper lines belong to it."""
    end = _line_end(text, start)
    depth = _indent(text[start:end])
    while end < len(text):
        line = text[end + 1 : _line_end(text, end + 1)]
        if line.strip() and _indent(line) <= depth:
            break
        end = _line_end(text, end + 1)
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
