"""Declarations to the bytes of a record, and back."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, Union

import msgspec
from msgspec import structs

from compiler.diagnostics.source import SourceFile
from compiler.kept import Files, Kept
from compiler.syntax.declarations import Declaration, ModelDecl, SinkDecl, SourceDecl, Step, StepsBody

T = TypeVar("T")

_CLASSES: dict[str, type[Declaration]] = {kind.__name__: kind for kind in (SourceDecl, ModelDecl, SinkDecl)}


class Keeper:
    """Turns values into bytes and back.

    Args:
        files: what they lie in.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._met: dict[str, None] = {}
        self._encoder = msgspec.msgpack.Encoder(enc_hook=self._path)

    def encoded(self, value: object) -> bytes:
        """Any value of the declarations' types.

        Raises:
            NotKeptError: a place in it lies in no file of the project.
        """
        return self._encoder.encode(value)

    def value(self, kind: type[T], content: bytes) -> T:
        """What `encoded` was given.

        Raises:
            msgspec.DecodeError: the bytes are not of that type.
            KeyError: a file is gone.
        """
        return msgspec.msgpack.decode(content, type=kind, dec_hook=self._file)

    def keep(self, declaration: Declaration) -> Kept:
        """A declaration.

        Raises:
            NotKeptError: a place in it lies in no file of the project.
        """
        plain = isinstance(declaration, ModelDecl) and not declaration.options and not declaration.tags
        name, kind, steps = declaration.name, type(declaration).__name__, None
        self._met = {self._files.path(name.span.file): None}
        if not isinstance(declaration, SourceDecl) and isinstance(declaration.body, StepsBody):
            steps = self.encoded(declaration.body.steps)
            declaration = structs.replace(declaration, body=structs.replace(declaration.body, steps=()))
        content = self.encoded(declaration)
        return Kept(kind, name.value, tuple(self._met), plain, content, steps)

    def told(self, kept: Kept) -> Declaration:
        """A declaration that was kept.

        Raises:
            msgspec.DecodeError: the bytes are not of a declaration.
            KeyError: a file is gone.
        """
        declaration = self.value(_CLASSES[kept.kind], kept.content)
        if kept.steps is None or isinstance(declaration, SourceDecl):
            return declaration
        assert isinstance(declaration.body, StepsBody)
        steps = self.value(_steps(), kept.steps)
        return structs.replace(declaration, body=structs.replace(declaration.body, steps=steps))

    def _path(self, value: object) -> str:
        if isinstance(value, SourceFile):
            path = self._files.path(value)
            self._met[path] = None
            return path
        raise NotImplementedError(type(value).__name__)

    def _file(self, kind: type, value: Any) -> Any:
        if kind is SourceFile:
            return self._files.file(value)
        raise NotImplementedError(kind.__name__)


@cache
def _steps() -> Any:
    """The type of a body's steps: a Struct is told by the tag of its own class."""
    import compiler.syntax.steps  # noqa: F401 - so that all classes of steps are there

    return tuple[Union[tuple(Step.__subclasses__())], ...]  # type: ignore[misc] # noqa: UP007 - made at run time
