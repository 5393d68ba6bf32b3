"""All that a compile reads, as hashes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from compiler.project.files import find_files, project_file
from compiler.version import VERSION

# Raised when the record's own form changes.
_FORMAT: Final = "3"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a project's compile reads from disk and from the command line.

    Args:
        base: hash of everything but the files: versions, folder, target, `--vars`.
        contents: each file of the project by the path that findings show, in the order of reading.
    """

    base: str
    contents: Mapping[str, bytes]

    def digests(self) -> dict[str, str]:
        """The hash of each file. Files that are not there are told by their absence."""
        return {name: digest(content) for name, content in self.contents.items()}


def digest(content: bytes) -> str:
    """The hash of a content."""
    return blake2b(content, digest_size=16).hexdigest()


def gather(root: Path, target: str | None, variables: Mapping[str, object]) -> Inputs | None:
    """Reads a project's files; None if there is no project, or if one of them cannot be read."""
    root = root.absolute()
    project = project_file(root)
    if project is None:
        return None
    contents: dict[str, bytes] = {}
    try:
        contents[project.name] = project.read_bytes()
        for path, shown in find_files(root):
            with open(path, "rb") as file:
                contents[shown] = file.read()
    except OSError:
        return None
    given = (f"{name}\0{type(value).__name__}\0{value}" for name, value in sorted(variables.items()))
    base = _joined([_FORMAT, VERSION, _build(), str(root), repr(target), *_functions(root), "--vars", *given])
    return Inputs(base, contents)


def environment_digest(names: Iterable[str], salt: str, environment: Mapping[str, str]) -> str:
    """One hash of the values of environment variables, and of which of them are not set."""
    return _joined([salt, *(f"{name}\0{environment.get(name)!r}" for name in sorted(names))])


class Recording(Mapping[str, str]):
    """The environment, with a note of each name that is asked for."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self._environment[name]

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return name in self._environment

    def __iter__(self) -> Iterator[str]:
        return iter(self._environment)

    def __len__(self) -> int:
        return len(self._environment)


def manifest_digest(state_root: Path) -> str:
    """The hash of the state root's memory; empty if nothing has run there."""
    try:
        return digest((state_root / "manifest.json").read_bytes())
    except FileNotFoundError:
        return ""
    except OSError as error:
        # What cannot be read is reported by the compile, and never the same twice.
        return f"unreadable: {error}"


def descriptor_digests(descriptors: Mapping[str, bytes | None]) -> dict[str, str | None]:
    """The hashes of files that options name as descriptors; None for one that cannot be read."""
    return {path: digest(content) if content is not None else None for path, content in descriptors.items()}


def _functions(root: Path) -> Iterator[str]:
    """The files of functions/, which queries may call."""
    for folder, folders, names in os.walk(root / "functions"):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = Path(folder, name)
            yield f"{path.relative_to(root)}\0{digest(path.read_bytes())}"


@cache
def _build() -> str:
    """What tells one state of the compiler's code from another, the version being the same."""
    found = []
    for package in ("compiler", "runtime/cli/cache"):
        top = Path(__file__).parents[3] / package
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                status = os.stat(os.path.join(folder, name))
                found.append(f"{folder}/{name}\0{status.st_size}\0{status.st_mtime_ns}")
    return _joined(found)


def _joined(parts: Iterable[str]) -> str:
    hashed = blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "big"))
        hashed.update(encoded)
    return hashed.hexdigest()
