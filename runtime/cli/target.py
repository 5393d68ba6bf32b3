"""The folder target/: what the commands write there, and how it is told from somebody else's."""

from __future__ import annotations

import os
from pathlib import Path

from runtime.cli.pipeline import not_writable
from runtime.files import TEMPORARY, write_atomically

PLAN = "job_plan.json"
LOGS = "logs"
CACHE = "cache"
# https://bford.info/cachedir/ — backup programs leave such a folder out.
TAG = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
_TAG_TEXT = f"""{_SIGNATURE}
# What headrace makes from the project. It may be deleted at any time: `headrace clean` does.
"""

# All that any command writes into target/; `clean` removes these and nothing else.
OURS = (PLAN, LOGS, CACHE, TAG)


def prepare(folder: Path) -> None:
    """Makes the folder and marks it as ours.

    Raises:
        DiagnosticError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / TAG).exists():
            (folder / TAG).write_text(_TAG_TEXT)
    except OSError as error:
        raise not_writable(folder, error) from error


def write(folder: Path, name: str, text: str) -> Path:
    """Writes one of our files whole.

    Raises:
        DiagnosticError: it cannot be written.
    """
    prepare(folder)
    try:
        write_atomically(folder / name, text)
    except OSError as error:
        raise not_writable(folder / name, error) from error
    return folder / name


def is_ours(folder: Path) -> bool:
    """Whether the folder has our mark, and is no link to elsewhere."""
    if folder.is_symlink():
        return False
    try:
        return (folder / TAG).read_text(errors="replace").startswith(_SIGNATURE)
    except OSError:
        return False


def entries(folder: Path) -> tuple[list[Path], list[Path]]:
    """What is in the folder: ours, and the rest."""
    ours: list[Path] = []
    rest: list[Path] = []
    with os.scandir(folder) as listing:
        for entry in sorted(listing, key=lambda e: e.name):
            mine = entry.name in OURS or entry.name.startswith(TEMPORARY)
            (ours if mine else rest).append(Path(entry.path))
    return ours, rest
