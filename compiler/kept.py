"""Declarations as bytes, for the record of a compile, and back.

A place is kept as offsets and the path of its file: the text is the file's own, which is there as it was when
bytes are turned back. Only what a change can reach is turned back at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from compiler.diagnostics.source import SourceFile
from compiler.syntax.outline import FileOutline


class NotKeptError(Exception):
    """Something lies in no file of the project, so it cannot be told from a record alone."""


class Files:
    """The files of the project, to and from what is kept of places in them.

    Args:
        texts: of each file by the path that findings show.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._files: dict[str, SourceFile] = {}

    def path(self, file: SourceFile) -> str:
        """What a file is kept as.

        Raises:
            NotKeptError: it is none of the project's.
        """
        if file is not self._files.get(file.path):
            if self.texts.get(file.path) != file.text:
                raise NotKeptError(file.path)
            self._files[file.path] = file
        return file.path

    def file(self, path: str) -> SourceFile:
        """A file, the same object each time.

        Raises:
            KeyError: there is none of that path.
        """
        if path not in self._files:
            self._files[path] = SourceFile(path, self.texts[path])
        return self._files[path]


class Kept(Struct, frozen=True):
    """A declaration.

    Args:
        kind: its class.
        name: as it was spelled.
        files: where it lies: its name's file first, then others that parts of it come from.
        plain: whether it is a model without options and tags.
        content: all of it but the steps of a body.
        steps: those, None if the body has none.
    """

    kind: str
    name: str
    files: tuple[str, ...]
    plain: bool
    content: bytes
    steps: bytes | None

    @property
    def key(self) -> str:
        """The name as it is looked up."""
        return self.name.lower()


class KeptProject(Struct, frozen=True):
    """What a project declares, as it is kept.

    Args:
        root: its folder.
        declared: sources, models and sinks, in this order.
        outlines: of the files that may change alone.
        seeds: all of them.
        reads: what each model and sink reads, by name in lower case.
    """

    root: str
    declared: tuple[Kept, ...]
    outlines: dict[str, FileOutline]
    seeds: bytes
    reads: dict[str, tuple[str, ...]]

    def holds(self, text: str) -> bool:
        """Whether a text stands in what is declared."""
        sought = text.encode("utf-8", "surrogatepass")
        return any(sought in kept.content or sought in (kept.steps or b"") for kept in self.declared)
