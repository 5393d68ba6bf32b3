"""An exception that nobody expected: a person gets one line, the log the trace."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import click

LOG = "headrace.log"

_folder: Path | None = None
_mask: Callable[[str], str] = str


def use_folder(folder: Path) -> None:
    """Says where logs of this process go, should there be any. Nothing is made yet."""
    global _folder
    _folder = folder


def use_mask(mask: Callable[[str], str]) -> None:
    """Says how secrets are taken out of a text."""
    global _mask
    _mask = mask


def masked(text: str) -> str:
    """A text without secrets."""
    from compiler.diagnostics.secrets import without_secrets

    return without_secrets(_mask(text))


def record_crash(error: Exception) -> int:
    """Tells a person, writes the trace, and gives the exit code."""
    import traceback

    where = _write(masked("".join(traceback.format_exception(error))))
    # One line: some exceptions of the JVM carry its whole stack.
    first = masked(re.sub(r"\s*\n.*", "", str(error), flags=re.DOTALL)).strip()
    said = f"{type(error).__name__}: {first}" if first else type(error).__name__
    click.echo(f"error: headrace itself failed: {said}", err=True)
    click.echo(f"  the full trace is in {where}", err=True)
    return 1


def _write(text: str) -> Path:
    if _folder is not None:
        try:
            _folder.mkdir(parents=True, exist_ok=True)
            with (_folder / LOG).open("a", encoding="utf-8") as file:
                file.write(text)
            return _folder / LOG
        except OSError:
            pass  # the crash may be about this very folder
    import tempfile

    handle, name = tempfile.mkstemp(prefix="headrace-", suffix=".log", text=True)
    with open(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    return Path(name)
