"""Parses YAML text into nodes, and says in plain words why it cannot be."""

from __future__ import annotations

import re
from typing import Any, Final

from compiler.diagnostics.codes import EMPTY_FILE, ENCODING, YAML_SYNTAX
from compiler.diagnostics.diagnostic import Label
from compiler.diagnostics.source import Span, whole_file
from compiler.syntax.parsed import Scope

# libyaml's words -> ours, with a fix.
_PLAIN: Final = (
    (
        "mapping values are not allowed",
        "a `: ` where no key can be",
        "put the text in quotes, or check the indentation",
    ),
    (
        "did not find expected key",
        "a line that is not indented like its neighbours",
        "line it up with the keys around it",
    ),
    (
        "did not find expected '-' indicator",
        "a line that is not indented like its neighbours",
        "line it up with the `-` of the list",
    ),
    ("could not find expected ':'", "a key without `:`", "write `key: value`"),
    (
        "did not find expected ',' or ']'",
        "a list in brackets is not closed",
        "close it with `]`, or put the item in quotes",
    ),
    (
        "did not find expected ',' or '}'",
        "a mapping in braces is not closed",
        "close it with `}`; inside braces put a value with `${…}` in quotes",
    ),
    (
        "found unexpected end of stream",
        "a quoted text is not closed",
        "close it with the quote it began with",
    ),
    (
        "found unknown escape character",
        "an unknown escape in a text in double quotes",
        "use single quotes, or `\\\\`",
    ),
    ("found undefined alias", "an alias (`*name`) without its anchor (`&name`)", "put the text in quotes"),
    ("found duplicate anchor", "an anchor is defined twice", None),
    (
        "block sequence entries are not allowed",
        "a `- ` where no list can be",
        "begin the list on a line of its own",
    ),
    (
        "found character that cannot start any token",
        "a character that cannot begin a value",
        "put the value in quotes",
    ),
    (
        "did not find expected node content",
        "a value is missing or begins with a sign",
        "put the value in quotes",
    ),
    ("while scanning a directive", "a line that begins with `%`", "put the text in quotes"),
    ("did not find expected <document start>", "text after the end of the document", "check the indentation"),
    (
        "expected a single document",
        "a second document in one file",
        "remove the line `---`, or split the file",
    ),
    ("exceeded maximum depth", "values nested too deeply", None),
    ("did not find URI escaped octet", "a tag (`!name`) that cannot be read", "put the text in quotes"),
    ("while scanning a tag", "a tag (`!name`) that cannot be read", "put the text in quotes"),
    ("while parsing a tag", "a tag (`!name`) that cannot be read", "put the text in quotes"),
    ("while scanning an anchor", "an `&` that begins no anchor", "put the text in quotes"),
    ("while scanning an alias", "a `*` that begins no alias", "put the text in quotes"),
    ("chomping or indentation indicator", "a block text (`|` or `>`) with more on its first line", None),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[\ud800-\udfff\ufffe\uffff]")
# Deeper than any real file; libyaml's own limit differs between versions, and Python's stack is finite.
_DEPTH: Final = 100


def compose(scope: Scope) -> Any:
    """The root node of a file's text, or None if it has none (which is told)."""
    import yaml

    file = scope.file
    bad = _CONTROL.search(file.text)
    if bad is not None:
        scope.error(
            ENCODING,
            f"control character U+{ord(bad.group()):04X} in a YAML file",
            Span(file, bad.start(), bad.end()),
            fix="delete it",
        )
        return None
    deep = _too_deep(file.text)
    if deep is not None:
        scope.error(YAML_SYNTAX, "values nested too deeply", Span(file, deep, deep + 1))
        return None
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node: Any = yaml.compose(file.text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        _report(error, scope)
        return None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(error).split("\n", 1)[0]
        scope.error(YAML_SYNTAX, "this is not YAML", whole_file(file), cause=reason)
        return None
    if node is None or (node.id == "scalar" and not node.style and node.value == ""):
        scope.error(EMPTY_FILE, "the file defines nothing", whole_file(file), fix="fill it, or delete it")
        return None
    return node


def _too_deep(text: str) -> int | None:
    """Where brackets or indentation go deeper than can be meant; quotes need not be minded for that."""
    depth = 0
    if text.count("[") + text.count("{") + text.count("- ") < _DEPTH:
        return None
    for match in re.finditer(r"[\[{]|[\]}]|\n[ ]*(?:- )+", text):
        sign = match.group()
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth = max(0, depth - 1)
        elif len(sign) > 2 * _DEPTH:
            return match.end() - 1
        if depth > _DEPTH:
            return match.start()
    return None


def _report(error: Any, scope: Scope) -> None:
    file = scope.file
    mark = error.problem_mark or error.context_mark
    offset = min(mark.index, len(file.text)) if mark is not None else 0
    problem = f"{error.context or ''} {error.problem or ''}"
    line_number, _ = file.position(offset)
    line = file.line(line_number)
    tab = line[: len(line) - len(line.lstrip())].find("\t")
    if tab >= 0:
        start = file.line_starts[line_number - 1] + tab
        scope.error(
            YAML_SYNTAX,
            "a tab indents this line",
            Span(file, start, start + 1),
            cause="YAML takes blanks only",
            fix="replace the tab with blanks",
        )
        return
    message, fix = f"this is not YAML: {problem.strip()}", None
    for words, plain, advice in _PLAIN:
        if words in problem:
            message, fix = plain, advice
            break
    if "expected node content" in problem and not file.text[offset:].strip():
        message, fix = "a list or a mapping is not closed", "close it with `]` or `}`"
    related: tuple[Label, ...] = ()
    context = error.context_mark
    if context is not None and error.problem_mark is not None and context.index != offset:
        begin = min(context.index, max(0, len(file.text) - 1))
        related = (Label(Span(file, begin, begin + 1), "of what begins here"),)
    if offset >= len(file.text) or file.text[offset] == "\n":
        # At the end of a line there is nothing to point at: the last character before it will do.
        offset = max(0, len(file.text[:offset].rstrip()) - 1)
    scope.error(YAML_SYNTAX, message, Span(file, offset, offset + 1), fix=fix, related=related)
