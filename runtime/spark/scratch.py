"""The folder that a JVM of ours needs while it runs, and the folders that killed runs have left."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from pathlib import Path

from filelock import FileLock, Timeout

_PREFIX = "headrace-jvm-"
_LOCK = "owner.lock"
# A folder is locked right after it is made: a younger one may be about to be.
_GRACE_S = 60.0


class Scratch:
    """A temporary folder. Its owner holds a lock in it, which the system takes back when it ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = FileLock(self.path / _LOCK)
        self._lock.acquire()

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)


def remove_left_over() -> None:
    """Remove the folders whose owners were killed; those of others, and of runs that go on, stay."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, Timeout):
            lock = folder / _LOCK
            # One without a lock is not of this version, and may be in use.
            if lock.exists() and time.time() - folder.stat().st_mtime > _GRACE_S:
                with FileLock(lock, timeout=0):
                    shutil.rmtree(folder, ignore_errors=True)
