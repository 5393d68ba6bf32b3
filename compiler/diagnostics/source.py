"""Places in the user's files.

A place is a file and a range of character offsets; lines and columns are computed only when a
diagnostic is shown, so that the passes carry two integers a node and nothing else.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from msgspec import Struct


class SourceFile:
    """A file of the user's project as it was read; it does not change.

    It is no Struct, so that places can be kept without the text that they lie in.

    Args:
        path: path to show, relative to the project where the file lies in it.
        text: the whole content.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SourceFile):
            return NotImplemented
        return self is other or (self.path == other.path and self.text == other.text)

    def __hash__(self) -> int:
        return hash((self.path, self.text))

    def __repr__(self) -> str:
        return f"SourceFile(path={self.path!r})"

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offsets (characters) at which the lines begin."""
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        return tuple(starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both counted from 1, of a character offset."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.line_starts, offset) - 1
        return line + 1, offset - self.line_starts[line] + 1

    def line(self, number: int) -> str:
        """Text of a line (counted from 1) without its end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text) + 1
        return self.text[start : end - 1].rstrip("\r")


class Span(Struct, frozen=True, array_like=True):
    """A range of characters in a file; `end` is exclusive."""

    file: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters of the range."""
        return self.file.text[self.start : self.end]

    def to(self, other: Span | None) -> Span:
        """The smallest range that holds both, or this one if `other` is missing or elsewhere."""
        if other is None or other.file is not self.file:
            return self
        return Span(self.file, min(self.start, other.start), max(self.end, other.end))

    def place(self) -> str:
        """`file:line:column` as editors and terminals understand it."""
        line, column = self.file.position(self.start)
        return f"{self.file.path}:{line}:{column}"


def whole_file(file: SourceFile) -> Span:
    """The first line of a file: the place for what concerns all of it."""
    end = file.text.find("\n")
    return Span(file, 0, max(1, end if end >= 0 else len(file.text)))
