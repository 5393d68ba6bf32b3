"""Brings the files under functions/ to where they run: as text inside of what Spark pickles."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

_PREFIX = "headrace-functions-"


@dataclass(frozen=True)
class Bundle:
    """The Python files of a plan, by path relative to functions/.

    A worker writes them into a folder named by their hash and imports from there: tracebacks have files to
    show, nothing has to be distributed beforehand, and two plans with other files of the same names do not
    meet, since a worker forgets the modules of one before it imports from the other.
    """

    files: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, folder: Path) -> Bundle:
        """All Python files below a folder."""
        paths = [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]
        # As the compiler reads them: line ends stay what they are, and the hashes are the same.
        texts = [(path.relative_to(folder).as_posix(), path.read_bytes().decode()) for path in paths]
        return cls(tuple(sorted((name, text.removeprefix("\ufeff")) for name, text in texts)))

    @cached_property
    def digest(self) -> str:
        """What tells two bundles apart."""
        return hashlib.sha256(repr(self.files).encode()).hexdigest()[:16]

    def load(self, module: str, name: str) -> Any:
        """A function or class of one of the files.

        Raises:
            Exception: whatever importing the file raises.
        """
        folder = self._unpacked()
        if str(folder) not in sys.path:
            for entry in [entry for entry in sys.path if Path(entry).name.startswith(_PREFIX)]:
                sys.path.remove(entry)
            self._forget()
            sys.path.insert(0, str(folder))
            importlib.invalidate_caches()
        return getattr(importlib.import_module(module), name)

    def _unpacked(self) -> Path:
        folder = Path(tempfile.gettempdir()) / f"{_PREFIX}{os.getuid()}-{self.digest}"
        folder.mkdir(mode=0o700, exist_ok=True)
        for path, text in self.files:
            target = folder / path
            # What lies there is not believed: the folder is shared with other users.
            if not target.exists() or target.read_bytes() != text.encode():
                target.parent.mkdir(parents=True, exist_ok=True)
                # Two workers may do so at once; a rename shows each of them a whole file.
                with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
                    file.write(text.encode())
                Path(file.name).replace(target)
        return folder

    @staticmethod
    def _forget() -> None:
        """Modules that came from another bundle."""
        for name, module in list(sys.modules.items()):
            if _PREFIX in str(getattr(module, "__file__", None) or ""):
                del sys.modules[name]
