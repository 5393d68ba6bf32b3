"""Paths of connectors: relative ones are against the project."""

from __future__ import annotations

import re
from pathlib import Path

_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]+://")
_GLOB = set("*?[]{}")


def is_url(path: str) -> bool:
    """Whether it names a place outside the local file system, such as an object store."""
    return bool(_SCHEME.match(path))


def local(path: str, project_dir: Path) -> Path:
    """The absolute local path."""
    return (project_dir / path).absolute()


def is_glob(path: str) -> bool:
    """Whether Hadoop would expand it."""
    return any(char in _GLOB for char in path)


def literal(path: str) -> str:
    """A glob that matches just this path."""
    return "".join(f"\\{char}" if char in _GLOB else char for char in path)


def only_file(path: str) -> str:
    """A glob that matches just this file. Spark streams folders and globs, never a plain file."""
    head, last = path[:-1], path[-1]
    return f"{literal(head)}\\{last}" if last in _GLOB else f"{literal(head)}[{last}]"
