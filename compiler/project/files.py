"""Finds and reads the files of a project, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from compiler.diagnostics.codes import ENCODING, MISSING_PATH
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.source import SourceFile, Span

PROJECT_FILE: Final = "headrace.yml"
PROJECT_FILES: Final = (PROJECT_FILE, "headrace.yaml")

# Folders of the project's root that hold no declarations.
_NOT_READ: Final = frozenset({"target", "tests", "functions"})
# What marks a folder as an output of a pipeline, an environment, or a project of its own.
_MARKS: Final = frozenset({"_spark_metadata", "_delta_log", "pyvenv.cfg", *PROJECT_FILES})
_NOT_DECLARATIONS: Final = frozenset({"__pycache__", "node_modules", "spark-warehouse", "metastore_db"})


def find_root(start: Path) -> Path | None:
    """The nearest folder at or above `start` that holds a headrace.yml."""
    for folder in (start.absolute(), *start.absolute().parents):
        if project_file(folder) is not None:
            return folder
    return None


def project_file(folder: Path) -> Path | None:
    """The headrace.yml of a folder."""
    for name in PROJECT_FILES:
        if (folder / name).is_file():
            return folder / name
    return None


def find_files(root: Path) -> Iterator[tuple[str, str]]:
    """Path on disk and path to show of all .sql, .yml, .yaml files and seeds, by path."""
    yield from _walk(str(root), "", set())


def _walk(folder: str, shown: str, seen: set[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda e: e.name)
        if shown:
            # A link may lead back up.
            stat = os.stat(folder)
            if (stat.st_dev, stat.st_ino) in seen:
                return
            seen.add((stat.st_dev, stat.st_ino))
    except OSError:
        return
    if shown and any(e.name in _MARKS for e in entries):
        return
    in_seeds = shown == "seeds/" or shown.startswith("seeds/")
    for entry in entries:
        name = entry.name
        if name.startswith("."):
            continue
        if entry.is_dir():
            if name in _NOT_DECLARATIONS or (not shown and name in _NOT_READ):
                continue
            yield from _walk(entry.path, f"{shown}{name}/", seen)
        elif name.endswith((".sql", ".yml", ".yaml")):
            if shown or name not in PROJECT_FILES:
                yield entry.path, shown + name
        elif in_seeds and name.endswith(".csv"):
            yield entry.path, shown + name


def find_functions(root: Path) -> Iterator[tuple[str, str]]:
    """Path on disk and path to show of all Python files under functions/, by path."""
    folder = root / "functions"
    for path in sorted(folder.rglob("*.py")):
        shown = path.relative_to(root).as_posix()
        if "__pycache__" not in path.parts and path.is_file():
            yield str(path), shown


def read_bytes(path: str, shown: str, reporter: Reporter) -> bytes | None:
    """The content of a file; None (reported) if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        reporter.add(
            Diagnostic(
                MISSING_PATH, f"`{shown}` cannot be read", cause=error.strerror or type(error).__name__
            )
        )
        return None


def decode(content: bytes, shown: str, reporter: Reporter) -> SourceFile | None:
    """The text of a file; None (reported) if it is not UTF-8."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = len(content[: error.start].decode("utf-8", "replace"))
        file = SourceFile(shown, content.decode("utf-8", "replace"))
        utf16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        reporter.add(
            Diagnostic(
                ENCODING,
                f"`{shown}` is not UTF-8 text",
                Span(file, before, before + 1),
                cause="the file is UTF-16"
                if utf16
                else f"byte 0x{content[error.start]:02x} has no meaning here",
                fix="save the file as UTF-8",
            )
        )
        return None
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        at = text.index("\0")
        file = SourceFile(shown, text)
        reporter.add(
            Diagnostic(
                ENCODING,
                f"`{shown}` holds a NUL character",
                Span(file, at, at + 1),
                fix="save the file as UTF-8 text",
            )
        )
        return None
    return SourceFile(shown, text)
