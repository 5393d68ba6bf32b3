"""A second lock on a state root, held by the JVM.

A killed run loses its lock at once, but its JVM may live for another moment, in which a task or a commit
ends. Only when that JVM is gone has nobody else a hand in the outputs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from compiler.diagnostics.codes import STATE_LOCKED
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError

_LOCK = "lock.jvm"
_WAIT_SECONDS = 60.0


@contextmanager
def jvm_fence(session: SparkSession, root: Path, wait_seconds: float = _WAIT_SECONDS) -> Iterator[None]:
    """Holds the state root in the JVM, once the JVM of a killed run has ended.

    Raises:
        DiagnosticError: the other one does not end.
    """
    jvm: Any = session._jvm
    file = jvm.java.io.RandomAccessFile(str(root / _LOCK), "rw")
    try:
        # Closing the file gives the lock back, and so does the end of the process.
        _acquire(file.getChannel(), root, wait_seconds)
        yield
    finally:
        _close(file)


def _acquire(channel: Any, root: Path, wait_seconds: float) -> None:
    end = time.monotonic() + wait_seconds
    while channel.tryLock() is None:
        if time.monotonic() > end:
            raise DiagnosticError(
                Diagnostic(
                    STATE_LOCKED,
                    f"state root {root} is still held by the JVM of a run that was killed",
                    cause="it may still be writing to the outputs",
                    fix="wait until that Java process has ended, or end it",
                )
            )
        time.sleep(0.1)


def _close(file: Any) -> None:
    # A JVM that has died has given the lock back.
    with suppress(Py4JError, ConnectionError):
        file.close()
