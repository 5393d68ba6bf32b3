"""What an epoch has read of a table, kept until no replay can ask for it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from runtime.files import write_atomically

# Spark replays the epoch in flight, which is the newest or the one before.
_KEPT: Final = 2


class Pin(msgspec.Struct, frozen=True):
    """What one epoch has read: names that the connector understands, and when they were found (ms)."""

    parts: tuple[str, ...]
    taken_ms: int


class Pins:
    """The pins of one table of a query.

    Args:
        folder: where they are; its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, epoch: int, refresh_ms: int | None, take: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """The parts that an epoch reads: those it has read before, those of the last one, or new ones.

        Args:
            epoch: its number.
            refresh_ms: how old the last ones may be.
            take: finds new ones.
        """
        known = self._read()
        if epoch in known:
            return known[epoch].parts
        now = time.time_ns() // 1_000_000
        last = known[max(known)] if known else None
        # A clock that was set back must not keep old content for ever.
        if last is None or refresh_ms is None or not 0 <= now - last.taken_ms < refresh_ms:
            last = Pin(take(), now)
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._folder / f"{epoch}.json", msgspec.json.encode(last))
        for old in known:
            if old <= epoch - _KEPT:
                (self._folder / f"{old}.json").unlink(missing_ok=True)
        return last.parts

    def parts(self) -> frozenset[str]:
        """All that a replay may still ask for."""
        return frozenset(part for pin in self._read().values() for part in pin.parts)

    def _read(self) -> dict[int, Pin]:
        files = self._folder.glob("*.json") if self._folder.is_dir() else ()
        return {
            int(file.stem): msgspec.json.decode(file.read_bytes(), type=Pin)
            for file in files
            if file.stem.isdigit()
        }


def folder_name(uid: str) -> str:
    """A folder's name: that of the source, and its hash where the name would not do as one."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in uid)
    return plain if plain == uid else f"{plain}-{hashlib.sha256(uid.encode()).hexdigest()[:8]}"


def remove_but(kept: frozenset[str], folder: Path) -> None:
    """Deletes the files that no replay can ask for."""
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.name not in kept:
            file.unlink(missing_ok=True)
