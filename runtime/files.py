"""Writing files so that a crash leaves the old content or the new one, never half of it."""

from __future__ import annotations

import os
from pathlib import Path

# Leftovers of a killed write begin so; whoever lists one of our folders may ignore them.
TEMPORARY = "._headrace_tmp_"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Temporary file beside it, fsync, rename, fsync of the folder: it survives a power cut too."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f"{TEMPORARY}{path.name}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    sync_folder(path.parent)


def rename_durably(temporary: Path, path: Path) -> None:
    """Gives a file that has been written its name, once all of it is on the disk."""
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.rename(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes renames and deletions in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
