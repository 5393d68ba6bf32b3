"""Where the story behind a message is: target/logs/."""

from __future__ import annotations

import logging
import logging.handlers
from collections.abc import Callable
from pathlib import Path

from runtime.cli import crash

_MOST_BYTES = 5_000_000
_JVM_LOG = "spark.log"


class _Formatter(logging.Formatter):
    """Writes exceptions whole, but no secret."""

    def format(self, record: logging.LogRecord) -> str:
        return crash.masked(super().format(record))


def start_logging(folder: Path, mask: Callable[[str], str] = str) -> Path:
    """Sends Python's log to a file of the folder.

    Args:
        folder: made if it is not there.
        mask: takes secrets out of a text.

    Returns:
        The file that the JVM may write to.

    Raises:
        OSError: the folder cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    crash.use_folder(folder)
    crash.use_mask(mask)
    handler = logging.handlers.RotatingFileHandler(
        folder / crash.LOG, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8", delay=True
    )
    handler.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    # A second run in this process replaces the first one's file; other handlers are the embedder's.
    for old in [h for h in root.handlers if isinstance(h.formatter, _Formatter)]:
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    for name in ("compiler", "runtime", "headrace"):
        logging.getLogger(name).setLevel(logging.INFO)
    # Its INFO is a line for every call into the JVM.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    jvm_log = folder / _JVM_LOG
    if jvm_log.exists() and jvm_log.stat().st_size > _MOST_BYTES:
        jvm_log.replace(folder / f"{_JVM_LOG}.1")
    return jvm_log


def flush() -> None:
    """Brings the log up to date on disk, before a message that refers to it."""
    for handler in logging.getLogger().handlers:
        handler.flush()
