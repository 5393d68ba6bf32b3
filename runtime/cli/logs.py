"""Where the story behind a message is: target/logs/."""

from __future__ import annotations

import logging
import logging.handlers
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

_MOST_BYTES = 5_000_000
_LOG = "headrace.log"
_JVM_LOG = "spark.log"

_folder: Path | None = None
_mask: Callable[[str], str] = str


class _Formatter(logging.Formatter):
    """Writes exceptions whole, but no secret."""

    def format(self, record: logging.LogRecord) -> str:
        return _mask(super().format(record))


def use_folder(folder: Path) -> None:
    """Says where logs of this process go, should there be any. Nothing is made yet."""
    global _folder
    _folder = folder


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
    global _mask
    folder.mkdir(parents=True, exist_ok=True)
    use_folder(folder)
    _mask = mask
    handler = logging.handlers.RotatingFileHandler(
        folder / _LOG, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8", delay=True
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


def record_crash(error: Exception) -> int:
    """Tells a person of an exception that nobody expected; the log gets the trace. Gives the exit code."""
    import traceback

    text = _mask("".join(traceback.format_exception(error)))
    where = _write_crash(text)
    # One line: some exceptions of the JVM carry its whole stack.
    first = _mask(re.sub(r"\s*\n.*", "", str(error), flags=re.DOTALL)).strip()
    said = f"{type(error).__name__}: {first}" if first else type(error).__name__
    click.echo(f"error: headrace itself failed: {said}", err=True)
    click.echo(f"  the full trace is in {where}", err=True)
    return 1


def _write_crash(text: str) -> Path:
    folder = _folder
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / _LOG).open("a", encoding="utf-8") as file:
                file.write(text)
            return folder / _LOG
        except OSError:
            pass  # the crash may be about this very folder
    handle, name = tempfile.mkstemp(prefix="headrace-", suffix=".log", text=True)
    with open(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    return Path(name)
