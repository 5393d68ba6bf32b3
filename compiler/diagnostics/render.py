"""Shows diagnostics as text with a frame of the file, or as data for JSON.

The text is complete without colour: carets mark the place, dashes the places that help to understand it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from compiler.diagnostics.codes import Severity
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.secrets import without_secrets
from compiler.diagnostics.source import SourceFile, Span
from compiler.frozen import frozen

_TAB = "    "
# Wider lines are cut around what is marked.
_WIDTH = 140
_BEFORE = 40

_RESET = "\x1b[0m"
_STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "frame": "\x1b[1;34m",
    "strong": "\x1b[1m",
    "help": "\x1b[1;36m",
}


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """The text of one diagnostic, without a line end at its end."""
    return _Renderer(diagnostic, color=color).text()


def render_all(diagnostics: Sequence[Diagnostic], *, color: bool = False) -> str:
    """All diagnostics, a blank line between them, and the summary; empty if there are none."""
    if not diagnostics:
        return ""
    parts = [render(d, color=color) for d in diagnostics]
    parts.append(summary(diagnostics, color=color))
    return "\n\n".join(parts) + "\n"


def summary(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """`2 errors, 1 warning`."""
    found = list(diagnostics)
    errors = sum(d.is_error for d in found)
    warnings = len(found) - errors
    parts = []
    if errors:
        parts.append(_paint("error", f"{errors} error{'s' * (errors != 1)}", color))
    if warnings:
        parts.append(_paint("warning", f"{warnings} warning{'s' * (warnings != 1)}", color))
    return ", ".join(parts) or "no errors"


def to_dict(diagnostic: Diagnostic) -> dict[str, object]:
    """A diagnostic as plain values; lines and columns count from 1, the end is exclusive."""
    return {
        "code": diagnostic.code.name,
        "title": diagnostic.code.title,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "cause": diagnostic.cause,
        "fix": diagnostic.fix,
        "place": place(diagnostic.span) if diagnostic.span is not None else None,
        "related": [{"text": r.text, "place": place(r.span)} for r in diagnostic.related],
        "docs": diagnostic.code.anchor,
    }


def place(span: Span) -> dict[str, object]:
    """A range as plain values: lines and columns from 1, offsets from 0, the end exclusive."""
    line, column = span.file.position(span.start)
    end_line, end_column = span.file.position(span.end)
    return {
        "file": span.file.path,
        "start": {"line": line, "column": column, "offset": span.start},
        "end": {"line": end_line, "column": end_column, "offset": span.end},
    }


def _paint(style: str, text: str, color: bool) -> str:
    return f"{_STYLES[style]}{text}{_RESET}" if color and text else text


@frozen(slots=True)
class _Mark:
    """What is drawn under one line: characters [start, end) of it, and the text after the marks."""

    line: int
    start: int
    end: int
    sign: str
    text: str


class _Renderer:
    def __init__(self, diagnostic: Diagnostic, *, color: bool) -> None:
        self.diagnostic = diagnostic
        self.color = color
        self.kind = "error" if diagnostic.severity is Severity.ERROR else "warning"

    def _paint(self, style: str, text: str) -> str:
        return _paint(style, text, self.color)

    def text(self) -> str:
        found = self.diagnostic
        head = self._paint(self.kind, f"{self.kind}[{found.code.name}]")
        lines = [head + self._paint("strong", f": {_clean(found.message)}")]
        spans = self._by_file()
        gutter = max((len(str(max(m.line for m in marks))) for _, marks in spans), default=1)
        for index, (file, marks) in enumerate(spans):
            lines.extend(self._frame(file, marks, gutter, first=index == 0))
        blank = " " * gutter
        notes = [("note", found.cause), ("help", found.fix)]
        if found.span is None:
            notes[1:1] = [("note", f"{r.span.place()}: {r.text}") for r in found.related]
        notes.append(("docs", found.code.anchor))
        if spans:
            lines.append(self._paint("frame", f"{blank} |"))
        for word, note in notes:
            if note:
                style = "help" if word == "help" else "strong"
                sign = self._paint("frame", f"{blank} =")
                lines.append(f"{sign} {self._paint(style, word + ':')} {_clean(note)}")
        return "\n".join(lines)

    def _by_file(self) -> list[tuple[SourceFile, list[_Mark]]]:
        """The marks of each file; that of the finding itself goes first."""
        found = self.diagnostic
        if found.span is None:
            return []
        files: dict[int, tuple[SourceFile, list[_Mark]]] = {}
        places = [(found.span, "^", found.label or "")]
        places += [(r.span, "-", r.text) for r in found.related]
        for span, sign, text in places:
            _, marks = files.setdefault(id(span.file), (span.file, []))
            marks.extend(_marks(span, sign, text))
        return list(files.values())

    def _frame(self, file: SourceFile, marks: list[_Mark], gutter: int, *, first: bool) -> list[str]:
        blank = " " * gutter
        bar = self._paint("frame", f"{blank} |")
        start = marks[0]
        arrow = "-->" if first else ":::"
        place = f"{_clean(file.path)}:{start.line}:{start.start + 1}"
        lines = [] if first else [bar]
        lines += [f"{self._paint('frame', f'{blank}{arrow}')} {place}", bar]
        previous: int | None = None
        for number in sorted({m.line for m in marks}):
            if previous is not None and number > previous + 1:
                if number == previous + 2:
                    text, _ = _shown(file.line(number - 1), [])
                    lines.append(self._line(number - 1, text, gutter))
                else:
                    lines.append(self._paint("frame", "..."))
            here = sorted((m for m in marks if m.line == number), key=lambda m: (m.sign != "^", m.start))
            text, columns = _shown(file.line(number), here)
            lines.append(self._line(number, text, gutter))
            for mark, (column, width) in zip(here, columns, strict=True):
                drawn = mark.sign * width + (f" {_clean(mark.text)}" if mark.text else "")
                style = self.kind if mark.sign == "^" else "frame"
                lines.append(f"{bar} {' ' * column}{self._paint(style, drawn)}")
            previous = number
        return lines

    def _line(self, number: int, text: str, gutter: int) -> str:
        head = self._paint("frame", f"{number:>{gutter}} |")
        return f"{head} {text}".rstrip()


def _marks(span: Span, sign: str, text: str) -> list[_Mark]:
    """One mark for a range in one line; the first and the last line for a longer one."""
    file = span.file
    first, column = file.position(span.start)
    last, end = file.position(max(span.start, span.end))
    if last > first and end == 1:
        # The range ends with a line's end.
        last, end = last - 1, len(file.line(last - 1)) + 1
    if first == last:
        return [_Mark(first, column - 1, max(column, end - 1), sign, text)]
    head = file.line(first)
    tail = file.line(last)
    indent = len(tail) - len(tail.lstrip())
    return [
        _Mark(first, column - 1, max(column, len(head)), sign, ""),
        _Mark(last, min(indent, max(0, end - 2)), max(1, end - 1), sign, text),
    ]


def _shown(line: str, marks: Sequence[_Mark]) -> tuple[str, list[tuple[int, int]]]:
    """A line as it is printed, and for each mark the column and the width of its signs."""
    cells = [_cell(char) for char in without_secrets(line)]
    cut_start, cut_end = 0, len(cells)
    if sum(width for _, width in cells) > _WIDTH:
        lead = min((m.start for m in marks), default=0)
        cut_start = max(0, lead - _BEFORE) if lead > _WIDTH - _BEFORE else 0
        cut_end = _fits(cells, cut_start)
    head = "…" if cut_start else ""
    tail = "…" if cut_end < len(cells) else ""
    text = head + "".join(t for t, _ in cells[cut_start:cut_end]) + tail
    columns = []
    for mark in marks:
        start = min(max(mark.start, cut_start), cut_end)
        end = min(max(mark.end, start), cut_end)
        column = len(head) + sum(w for _, w in cells[cut_start:start])
        columns.append((column, max(1, sum(w for _, w in cells[start:end]))))
    return text, columns


def _fits(cells: Sequence[tuple[str, int]], start: int) -> int:
    width = 0
    for index in range(start, len(cells)):
        width += cells[index][1]
        if width > _WIDTH:
            return index
    return len(cells)


def _cell(char: str) -> tuple[str, int]:
    """How a character is printed, and how many columns it takes."""
    if " " <= char <= "~":
        return char, 1
    if char == "\t":
        return _TAB, len(_TAB)
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return char, 0
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        # A control character must not reach the terminal.
        return "\ufffd", 1
    return char, 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _clean(text: str) -> str:
    """A text of one line without control characters."""
    text = " ".join(text.split("\n")) if "\n" in text else text
    return text if text.isprintable() else "".join(_cell(c)[0] for c in text)
