"""Documents: text with places where a line may end, and how they become lines.

A small form of P. Wadler, "A prettier printer", 2003: a group stands on one line if it fits, else all of its
own line ends are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from compiler.frozen import frozen

WIDTH: Final = 100
_INDENT: Final = "  "


@frozen(slots=True)
class Line:
    """A place where a line may end; else it is `flat`."""

    flat: str = " "


@frozen(slots=True)
class Hard:
    """A place where a line ends; several in a row are one."""


@frozen(slots=True)
class Group:
    """On one line if it fits and has no `Hard` in it."""

    parts: tuple[Doc, ...]


@frozen(slots=True)
class Indent:
    """Lines that begin in it are set further in."""

    parts: tuple[Doc, ...]


Doc = str | Line | Hard | Group | Indent


def group(*parts: Doc) -> Group:
    """A group."""
    return Group(parts)


def indent(*parts: Doc) -> Indent:
    """Lines further in."""
    return Indent(parts)


def lines(parts: tuple[Doc, ...]) -> list[str]:
    """A document as lines without white space at their ends."""
    printer = _Printer()
    printer.print(parts)
    return printer.finished()


class _Printer:
    def __init__(self) -> None:
        self._done: list[str] = []
        self._line = ""
        # Indentation of the line that was asked for and has no text yet.
        self._pending: int | None = 0

    def print(self, parts: tuple[Doc, ...]) -> None:
        # A stack of its own: a query may be nested deeper than Python's recursion limit allows.
        stack: list[tuple[Doc, int, bool]] = [(part, 0, False) for part in reversed(parts)]
        while stack:
            part, depth, flat = stack.pop()
            if isinstance(part, str):
                self._text(part)
            elif isinstance(part, Hard):
                self._end(depth)
            elif isinstance(part, Line):
                if flat:
                    self._text(part.flat)
                else:
                    self._end(depth)
            elif isinstance(part, Indent):
                stack.extend((inner, depth + 1, flat) for inner in reversed(part.parts))
            else:
                fits = flat or self._fits(part, depth)
                stack.extend((inner, depth, fits) for inner in reversed(part.parts))

    def finished(self) -> list[str]:
        if self._line.strip():
            self._done.append(self._line.rstrip())
        return self._done

    def _text(self, text: str) -> None:
        if self._pending is not None:
            text = text.lstrip(" ")
            if not text:
                return
            if self._line.strip():
                self._done.append(self._line.rstrip())
            self._line = _INDENT * self._pending
            self._pending = None
        # A comment brings its spaces, and what stands around it may ask for them too.
        elif text == " " and self._line.endswith(" "):
            return
        self._line += text

    def _end(self, depth: int) -> None:
        self._pending = depth

    def _fits(self, part: Group, depth: int) -> bool:
        used = len(_INDENT) * self._pending if self._pending is not None else len(self._line)
        for text in _flat(part):
            if text is None:
                return False
            used += len(text)
            if used > WIDTH:
                return False
        return True


def _flat(part: Doc) -> Iterator[str | None]:
    """The texts of a document on one line; None where that is not possible."""
    stack = [part]
    while stack:
        here = stack.pop()
        if isinstance(here, str):
            yield None if "\n" in here else here
        elif isinstance(here, Line):
            yield here.flat
        elif isinstance(here, Hard):
            yield None
        else:
            stack.extend(reversed(here.parts))
