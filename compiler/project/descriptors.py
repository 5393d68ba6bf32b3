"""Files that options name and the compiler reads: descriptors of protobuf messages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from compiler.jobplan.formats import DESCRIPTOR
from compiler.syntax.declarations import OptionDecl

_NAMED = frozenset(f"{part}{DESCRIPTOR}" for part in ("", "value.", "key."))


def read_descriptors(root: Path, options: Iterable[OptionDecl]) -> dict[str, bytes | None]:
    """The contents of all files that options name as descriptors.

    Args:
        root: what paths are relative to.
        options: of all sources and sinks.

    Returns:
        The contents by the paths as they are written; None for a file that cannot be read.
    """
    named = (o.value.value for o in options if o.key.value.lower().replace("_", "-") in _NAMED)
    return {path: read_descriptor(root, path) for path in dict.fromkeys(named)}


def read_descriptor(root: Path, path: str) -> bytes | None:
    """The content of one file; None if it cannot be read."""
    try:
        return (root / path).read_bytes()
    except (OSError, ValueError):
        # ValueError: no path has a zero character.
        return None
