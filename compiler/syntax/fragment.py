"""Text of a user's file with its variables filled in, which still knows where each character came from."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from compiler.diagnostics.source import SourceFile, Span


class Piece(Struct, frozen=True, array_like=True):
    """A run of text: from `start` on it stands at `origin` in the file.

    `length` is that of the original: equal to the text's for copied runs, and the length of `${name}`
    for a run that a variable's value replaced (`replaced`), all of which maps to the whole reference.
    """

    start: int
    origin: int
    length: int
    replaced: bool = False


class Fragment(Struct, frozen=True, tag=True):
    """A piece of SQL (an expression, a query, a whole file) and where it lies.

    Args:
        text: what is parsed.
        file: the file it was read from.
        pieces: runs in ascending `start`; the first begins at 0.
    """

    text: str
    file: SourceFile
    pieces: tuple[Piece, ...]

    @classmethod
    def plain(cls, file: SourceFile, start: int, end: int) -> Fragment:
        """The characters [start, end) of a file as they are."""
        return cls(file.text[start:end], file, (Piece(0, start, end - start),))

    def _origin(self, offset: int) -> tuple[int, int]:
        """Range in the file of the character at `offset`."""
        index = bisect_right(self.pieces, offset, key=lambda p: p.start) - 1
        piece = self.pieces[max(0, index)]
        if piece.replaced:
            return piece.origin, piece.origin + piece.length
        where = piece.origin + offset - piece.start
        return where, where + 1

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The range in the file of the characters [start, end) of `text`."""
        end = len(self.text) if end is None else end
        first = self._origin(start)[0]
        last = self._origin(end - 1)[1] if end > start else first
        return Span(self.file, first, max(first, last))

    def slice(self, start: int, end: int) -> Fragment:
        """The fragment of the characters [start, end) of `text`."""
        index = max(0, bisect_right(self.pieces, start, key=lambda p: p.start) - 1)
        pieces: list[Piece] = []
        for piece in self.pieces[index:]:
            if piece.start >= end and pieces:
                break
            skip = max(0, start - piece.start)
            if piece.replaced:
                pieces.append(Piece(max(0, piece.start - start), piece.origin, piece.length, True))
            else:
                pieces.append(Piece(max(0, piece.start - start), piece.origin + skip, piece.length - skip))
        return Fragment(self.text[start:end], self.file, tuple(pieces))

    def strip(self) -> Fragment:
        """The fragment without white space at its ends."""
        start = len(self.text) - len(self.text.lstrip())
        return self.slice(start, max(start, len(self.text.rstrip())))
