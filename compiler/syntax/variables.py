"""Fills `${name}` and dbt's static `{{ … }}` calls into a fragment, keeping the place of every character."""

from __future__ import annotations

import re

from compiler.diagnostics.codes import JINJA, UNDEFINED_VARIABLE
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.syntax.fragment import Fragment, Piece
from compiler.syntax.parsed import Scope

# `$${` is a literal `${`. In SQL comments stay as they are: nobody wants an error from a line that is off.
_REFERENCE = r"\$\$\{|\$\{[^}\n]*\}?"
_JINJA = r"\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{\#[\s\S]*?\#\}|\{[{%\#]"
_YAML = re.compile(rf"{_REFERENCE}|\{{\{{[\s\S]*?\}}\}}")
_RELATION = re.compile(r"\s*\{\{-?\s*(?:ref|source)\b[^{}]*\}\}\s*")
_CODE = re.compile(rf"--[^\n]*|/\*[\s\S]*?\*/|['\"`]|{_REFERENCE}|{_JINJA}")
_QUOTED = {quote: re.compile(rf"{quote}|\\.|{_REFERENCE}|{_JINJA}") for quote in "'\"`"}
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


class _Builder:
    """Puts a fragment together from copied and replaced runs."""

    def __init__(self, source: Fragment) -> None:
        self._source = source
        self._parts: list[str] = []
        self._pieces: list[Piece] = []
        self._length = 0

    def copy(self, start: int, end: int) -> None:
        if start >= end:
            return
        part = self._source.slice(start, end)
        self._parts.append(part.text)
        for piece in part.pieces:
            self._pieces.append(Piece(piece.start + self._length, piece.origin, piece.length, piece.replaced))
        self._length += end - start

    def replace(self, text: str, span: Span) -> None:
        self._parts.append(text)
        self._pieces.append(Piece(self._length, span.start, span.end - span.start, True))
        self._length += len(text)

    def build(self) -> Fragment:
        pieces = self._pieces or [Piece(0, self._source.span(0, 0).start, 0)]
        return Fragment("".join(self._parts), self._source.file, tuple(pieces))


def replaced(fragment: Fragment, start: int, end: int, text: str) -> Fragment:
    """The fragment with other text for the characters [start, end), which stands for their place."""
    builder = _Builder(fragment)
    builder.copy(0, start)
    builder.replace(text, fragment.span(start, end))
    builder.copy(end, len(fragment.text))
    return builder.build()


def fill_sql(fragment: Fragment, scope: Scope) -> Fragment:
    """Fills variables and static dbt calls into SQL."""
    text = fragment.text
    if "${" not in text and "{{" not in text and "{%" not in text and "{#" not in text:
        return fragment
    builder = _Builder(fragment)
    done = position = 0
    quote = ""
    while match := (_QUOTED[quote] if quote else _CODE).search(text, position):
        found = match.group()
        position = match.end()
        if found[0] in "'\"`":
            quote = "" if quote else found
        elif found[0] in "${":
            span = fragment.span(match.start(), match.end())
            value = _value(found, span, scope, in_string=bool(quote))
            if value is not None:
                start = match.start()
                # In code white space says nothing; in a string Jinja's `-` takes it away.
                if quote and found.startswith(("{{-", "{#-")):
                    start = max(done, len(text[:start].rstrip()))
                builder.copy(done, start)
                builder.replace(value, span)
                if quote and found.endswith(("-}}", "-#}")):
                    position += len(text[position:]) - len(text[position:].lstrip())
                done = position
    builder.copy(done, len(text))
    return builder.build()


def fill(fragment: Fragment, scope: Scope) -> Fragment:
    """Fills variables into a YAML scalar, `{{ var('x') }}` too; a `ref()` alone is left for later."""
    text = fragment.text
    if ("${" not in text and "{{" not in text) or _RELATION.fullmatch(text):
        return fragment
    builder = _Builder(fragment)
    done = 0
    for match in _YAML.finditer(text):
        span = fragment.span(match.start(), match.end())
        value = _value(match.group(), span, scope, in_string=True)
        if value is not None:
            builder.copy(done, match.start())
            builder.replace(value, span)
            done = match.end()
    builder.copy(done, len(text))
    return builder.build()


def _value(found: str, span: Span, scope: Scope, *, in_string: bool) -> str | None:
    """What stands for a reference; None leaves it as it is."""
    if found.startswith("$${"):
        return "${"
    if found.startswith("${"):
        return _variable(found, span, scope)
    from compiler.syntax.jinja import expand

    return expand(found, span, scope, in_string=in_string)


def _variable(found: str, span: Span, scope: Scope) -> str | None:
    if not found.endswith("}"):
        scope.error(
            UNDEFINED_VARIABLE,
            "variable reference is not closed",
            span,
            fix="end it with `}`, or write `$${` for the characters `${`",
        )
        return None
    name = found[2:-1].strip()
    if name.startswith("env:"):
        if not _NAME.fullmatch(name[4:]):
            scope.error(UNDEFINED_VARIABLE, f"`{name[4:]}` is no name of an environment variable", span)
        return None
    return lookup(name, span, scope)


def lookup(name: str, span: Span, scope: Scope, default: str | None = None) -> str:
    """The value of a variable. An undefined one is reported, and is its own name so that parsing goes on."""
    scope.used.add(name)
    value = scope.variables.get(name)
    if value is not None:
        return value
    if default is not None:
        return default
    known = "defined are " + ", ".join(f"`{n}`" for n in list(scope.variables)[:12])
    advice = f"add `{name}: …` under `vars:` in headrace.yml, or pass `--vars '{{{name}: …}}'`"
    scope.error(
        UNDEFINED_VARIABLE,
        f"variable `{name}` is not defined" if name else "variable reference without a name",
        span,
        cause=known if scope.variables else "the project defines no variables",
        fix=did_you_mean(name, scope.variables) or (advice if _NAME.fullmatch(name) else None),
    )
    # Digits of a word: valid as a name, inside a string and, less so, as a value.
    return re.sub(r"\W", "_", name) or "_"


def jinja_error(message: str, span: Span, scope: Scope, fix: str | None = None) -> None:
    """Reports a template call that is none of the static ones."""
    scope.error(
        JINJA,
        message,
        span,
        cause="only the static calls ref('x'), source('a', 'b'), var('x') and config(…) are understood",
        fix=fix,
    )
