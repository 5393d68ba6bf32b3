"""Maps the text of a YAML scalar to the characters of the file.

Expressions live in plain, quoted and block scalars, and a caret must stand under the right character of each.
Where a scalar cannot be followed character by character, all of it maps to its whole range.
"""

from __future__ import annotations

import re
from typing import Any

from compiler.diagnostics.source import SourceFile
from compiler.syntax.fragment import Fragment, Piece

_WORDS = re.compile(r"\S+")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n[ \t]*|\r\n[ \t]*|[\s\S])")


def scalar_fragment(file: SourceFile, node: Any) -> Fragment:
    """The fragment of a scalar node's value."""
    start, end = node.start_mark.index, node.end_mark.index
    value: str = node.value
    raw = file.text[start:end]
    if raw == value:
        return Fragment(value, file, (Piece(0, start, end - start),))
    style = node.style
    pieces: list[Piece] | None
    if style in ("'", '"') and raw[1:-1] == value:
        pieces = [Piece(0, start + 1, len(value))]
    elif style == "|":
        pieces = _literal(raw, value, start)
    elif style == '"' and "\\" in raw:
        pieces = _escaped(raw, value, start)
    elif style == "'" and "''" in raw:
        pieces = _doubled(raw, value, start)
    else:
        pieces = _folded(raw, value, start, skip_header=style == ">")
    return Fragment(value, file, tuple(pieces or [Piece(0, start, max(1, len(raw.rstrip())), True)]))


def _literal(raw: str, value: str, start: int) -> list[Piece] | None:
    """`|`: the lines as they are, less their indentation."""
    offset = raw.find("\n") + 1
    lines = value.split("\n")
    indent: int | None = None
    pieces: list[Piece] = []
    position = 0
    for number, line in enumerate(lines):
        line_end = raw.find("\n", offset)
        line_end = len(raw) if line_end < 0 else line_end
        physical = raw[offset:line_end].rstrip("\r")
        if line:
            if indent is None:
                indent = len(physical) - len(line)
            if indent < 0 or physical[indent:] != line:
                return None
            pieces.append(Piece(position, start + offset + indent, len(line) + 1))
        elif number < len(lines) - 1:
            if physical.strip():
                return None
            pieces.append(Piece(position, start + line_end, 1))
        position += len(line) + 1
        offset = line_end + 1
    if pieces and pieces[0].start != 0:
        return None
    return pieces or None


def _folded(raw: str, value: str, start: int, *, skip_header: bool) -> list[Piece] | None:
    """Text over several lines, joined by blanks: the words are found one after the other."""
    position = raw.find("\n") + 1 if skip_header else (1 if raw[:1] in "'\"" else 0)
    pieces: list[Piece] = []
    done = 0
    for match in _WORDS.finditer(value):
        found = raw.find(match.group(), position)
        if found < 0 or raw[position:found].strip():
            return None
        if match.start() > done:
            gap = found - position
            pieces.append(Piece(done, start + position, max(1, gap), replaced=gap != match.start() - done))
        pieces.append(Piece(match.start(), start + found, len(match.group())))
        position = found + len(match.group())
        done = match.end()
    if done < len(value) and pieces:
        pieces.append(Piece(done, start + position - 1, 1, True))
    return pieces or None


def _doubled(raw: str, value: str, start: int) -> list[Piece] | None:
    """`'…'` on one line, in which `''` is a quote."""
    pieces: list[Piece] = []
    built: list[str] = []
    length = 0
    position = 1
    for part in raw[1:-1].split("''"):
        if part:
            pieces.append(Piece(length, start + position, len(part)))
            built.append(part)
            length += len(part)
        position += len(part)
        pieces.append(Piece(length, start + position, 2, True))
        built.append("'")
        length += 1
        position += 2
    return pieces[:-1] if "".join(built)[:-1] == value else None


def _escaped(raw: str, value: str, start: int) -> list[Piece] | None:
    """`"…"` with escapes; each is one character of the value, or none at the end of a line."""
    if "\n" in re.sub(r"\\\r?\n", "", raw):
        return None
    pieces: list[Piece] = []
    length = 0
    position = 1
    for match in _ESCAPE.finditer(raw, 1, len(raw) - 1):
        plain = match.start() - position
        if plain:
            if value[length : length + plain] != raw[position : match.start()]:
                return None
            pieces.append(Piece(length, start + position, plain))
            length += plain
        if match.group()[1] not in "\r\n":
            pieces.append(Piece(length, start + match.start(), len(match.group()), True))
            length += 1
        position = match.end()
    if value[length:] != raw[position:-1]:
        return None
    if length < len(value):
        pieces.append(Piece(length, start + position, len(value) - length))
    return pieces or None
