"""Records on disk: written whole, read with suspicion."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from runtime.cli.cache.inputs import digest
from runtime.cli.cache.record import Record
from runtime.cli.target import CACHE, prepare


def load(target_dir: Path, target: str | None) -> Record | None:
    """The record of a target; None if there is none, or if it is damaged or of another form."""
    try:
        content = _path(target_dir, target).read_bytes()
        head, _, body = content.partition(b"\n")
        if head != digest(body).encode():
            return None
        return msgspec.msgpack.decode(body, type=Record)
    except (OSError, msgspec.DecodeError):
        return None


def save(target_dir: Path, target: str | None, record: Record) -> None:
    """Writes a record. If that fails, the next compile takes longer, and no more."""
    from compiler.diagnostics.diagnostic import DiagnosticError
    from runtime.files import write_atomically

    body = msgspec.msgpack.encode(record)
    path = _path(target_dir, target)
    try:
        prepare(target_dir)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, digest(body).encode() + b"\n" + body)
    except (OSError, DiagnosticError):
        return


def _path(target_dir: Path, target: str | None) -> Path:
    # The default target is not known before headrace.yml is read.
    name = re.sub(r"[^\w-]", "_", target) if target is not None else "_default"
    return target_dir / CACHE / f"{name}.msgpack"
