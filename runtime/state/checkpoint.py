"""A query's checkpoint, as Spark lays it out: read here, and written in few places only.

Written are the id before the first start, so that sinks can be claimed for it, the offsets of epochs
without input: that which closes a bounded run, and that which a killed run has not come to; and, when a
query's reads have changed places, the offsets of its last epochs in their new order.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.diagnostics.codes import STATE_BROKEN
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from runtime.files import write_atomically

# The names of an entry's offsets, in an entry that `arrange` has written. Spark leaves a configuration alone
# that it does not know, and does not write it on into the next entry.
_READS = "headrace.reads"

# In place of an offset where nothing has ever come.
_NOTHING = "-"

# How far reads had come that a query no longer has.
_LEFT = "headrace_left.json"

# A watermark behind every time that Spark can hold, and far from overflow when a delay is added (9892).
CLOSED_WATERMARK_MS = 250_000_000_000_000


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The folder of one query's checkpoint."""

    path: Path

    @property
    def exists(self) -> bool:
        """Whether a query has been started here, or is about to be."""
        return (self.path / "metadata").exists()

    def incarnation(self) -> str:
        """The id of the checkpoint, made now if there is none.

        Raises:
            DiagnosticError: the checkpoint has epochs but no id, or an id that cannot be read.
        """
        file = self.path / "metadata"
        if file.exists():
            try:
                return str(json.loads(file.read_text())["id"])
            except (ValueError, KeyError, TypeError) as error:
                raise self.broken(f"{file} cannot be read") from error
        if self.last_begun >= 0:
            raise self.broken(f"{file} is missing although epochs have run")
        minted = str(uuid.uuid4())
        self.path.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps({"id": minted}))
        return minted

    @property
    def last_begun(self) -> int:
        """The newest epoch whose offsets are written, -1 if none."""
        return _newest(self.path / "offsets")

    @property
    def last_committed(self) -> int:
        """The newest epoch that is done, -1 if none."""
        return _newest(self.path / "commits")

    @property
    def in_flight(self) -> bool:
        """Whether an epoch has begun and not ended."""
        return self.last_begun > self.last_committed

    @property
    def closed_at(self) -> int | None:
        """The epoch that closes all windows, begun or done; None if the state is open."""
        epochs = sorted(_epochs(self.path / "offsets"), reverse=True)
        closing = None
        for epoch in epochs:
            if self._metadata(epoch)["batchWatermarkMs"] < CLOSED_WATERMARK_MS:
                break
            closing = epoch
        return closing

    @property
    def state_partitions(self) -> int | None:
        """The number of state partitions that the first epoch fixed."""
        if self.last_begun < 0:
            return None
        number = self._metadata(self.last_begun)["conf"].get("spark.sql.shuffle.partitions")
        return int(number) if number is not None else None

    @property
    def owed_watermark_ms(self) -> int | None:
        """The watermark that the last epoch has left and no epoch has closed anything by; None if none.

        Spark (4.2.0) runs an epoch without input for it, but only in the run that has moved the watermark: if
        that run dies first, windows which are complete would wait for the next rows.
        """
        last = self.last_committed
        if last < 0 or last != self.last_begun:
            return None
        try:
            line = (self.path / "commits" / str(last)).read_text().split("\n")[1]
            moved = int(json.loads(line).get("nextBatchWatermarkMs", 0))
        except (OSError, ValueError, IndexError, AttributeError, TypeError) as error:
            raise self.broken(f"{self.path / 'commits' / str(last)} is damaged") from error
        return moved if moved > self._metadata(last)["batchWatermarkMs"] else None

    def late_watermark_ms(self, epoch: int) -> int:
        """The watermark by which an epoch leaves late rows out (ms since 1970): that of the one before it."""
        return int(self._metadata(epoch - 1)["batchWatermarkMs"]) if epoch > 0 else 0

    def offsets(self, epoch: int) -> tuple[str | None, str]:
        """From where to where an epoch reads, for a query of one read, as its source wrote it.

        Spark writes a line for each source, in the order of the plan: that of the read comes first, then that
        of the times which move its watermark on while it is silent (`runtime.spark.control`), if it has any.

        Returns:
            Where the epoch before ended, None if there was none, and where this one does.
        """
        before = self._offset(epoch - 1) if epoch > 0 else None
        after = self._offset(epoch)
        if after is None:
            raise self.broken(f"{self.path / 'offsets' / str(epoch)} has no offset")
        return before, after

    def ends(self, epoch: int, reads: Sequence[str]) -> dict[str, str | None]:
        """How far an epoch reads each source, by the name of the read; None where nothing has ever come.

        Args:
            epoch: one that has begun.
            reads: the names in the order of the plan that has written the epoch.
        """
        names = self._metadata(epoch)["conf"].get(_READS)
        order = tuple(json.loads(names)) if names is not None else tuple(reads)
        found = self._ends(epoch)
        if len(found) != len(order):
            text = f"{self.path / 'offsets' / str(epoch)} has {len(found)} offsets, for {', '.join(order)}"
            raise self.broken(text)
        return dict(zip(order, found, strict=True))

    def arrange(self, before: Sequence[str], now: Sequence[str]) -> None:
        """Puts the offsets of the newest epochs into the order of a plan that lists its reads otherwise.

        Spark (4.2.0) goes on from the newest entry and asks the one before where that began; it knows an
        offset by its place, and refuses another number of them. A read that is new gets none; one that is
        gone is remembered, so that it goes on from there should it come back. An entry that was
        rewritten has the names of its offsets, so that a second call, after a kill, moves nothing twice.

        Args:
            before: the names of the reads in the order of the plan that has written the epochs.
            now: the same of the plan that runs next.
        """
        last = self.last_begun
        entries = {epoch: self.ends(epoch, before) for epoch in (last - 1, last) if epoch >= 0}
        if all(tuple(ends) == tuple(now) for ends in entries.values()):
            return
        # An epoch in flight is not done: what it was to read of a read that leaves is read when that is back.
        # After a kill, what was done may have been rewritten without the read, which is remembered then.
        done = entries.get(self.last_committed, {})
        gone = {name: end for name, end in done.items() if name not in now}
        left = self.left() | gone
        if gone:
            write_atomically(self.path / _LEFT, json.dumps(left))
        for epoch, ends in entries.items():
            known = left | ends
            lines = self._lines(epoch)
            metadata = json.loads(lines[1])
            metadata["conf"][_READS] = json.dumps(list(now))
            lines[1:] = [
                json.dumps(metadata, separators=(",", ":")),
                *(known.get(name) or _NOTHING for name in now),
            ]
            self._write_offsets(epoch, lines)

    def left(self) -> dict[str, str | None]:
        """How far the reads had come that the query has had before."""
        file = self.path / _LEFT
        try:
            return dict(json.loads(file.read_text())) if file.exists() else {}
        except (OSError, ValueError) as error:
            raise self.broken(f"{file} is damaged") from error

    def _ends(self, epoch: int) -> tuple[str | None, ...]:
        return tuple(None if line == _NOTHING else line for line in self._lines(epoch)[2:])

    def _write_offsets(self, epoch: int, lines: Sequence[str]) -> None:
        folder = self.path / "offsets"
        # Where there is a checksum, Hadoop reads by it.
        (folder / f".{epoch}.crc").unlink(missing_ok=True)
        write_atomically(folder / str(epoch), "\n".join(lines))

    def _offset(self, epoch: int) -> str | None:
        found = self._ends(epoch)
        if len(found) not in (1, 2):
            raise self.broken(f"{self.path / 'offsets' / str(epoch)} has {len(found)} offsets instead of one")
        return found[0]

    def begin_close(self) -> None:
        """Begins one more epoch, with a watermark behind everything."""
        self.begin_empty(CLOSED_WATERMARK_MS)

    def begin_empty(self, watermark_ms: int) -> None:
        """Writes the offsets of one more epoch, without input and with a watermark.

        It is an epoch like others: killed in the middle, it is in flight and gives the same rows.
        """
        last = self.last_begun
        lines = self._lines(last)
        metadata = json.loads(lines[1])
        metadata["batchWatermarkMs"] = watermark_ms
        lines[1] = json.dumps(metadata, separators=(",", ":"))
        self._write_offsets(last + 1, lines)

    def tidy(self) -> None:
        """Deletes entries of the logs that a killed run has left half-written.

        Spark (4.2.0) passes over them, but not before the first epoch: then the folders must be empty.
        """
        for log in ("offsets", "commits"):
            for file in (*(self.path / log).glob(".*.tmp"), *(self.path / log).glob(".*.tmp.crc")):
                file.unlink()

    def drop_state(self) -> None:
        """Deletes the state of operators that the query no longer has, if there is any."""
        shutil.rmtree(self.path / "state", ignore_errors=True)

    def broken(self, cause: str) -> DiagnosticError:
        """The refusal to go on with a checkpoint that is damaged. It is never deleted here."""
        return DiagnosticError(
            Diagnostic(
                STATE_BROKEN,
                f"checkpoint {self.path} cannot be read",
                cause=cause,
                fix="bring the folder back from a copy; or run with --full-refresh, which starts over",
            )
        )

    def _metadata(self, epoch: int) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._lines(epoch)[1])
            found["batchWatermarkMs"] = int(found["batchWatermarkMs"])
            found["conf"] = dict(found["conf"])
            return found
        except (ValueError, IndexError, KeyError, TypeError) as error:
            raise self.broken(f"{self.path / 'offsets' / str(epoch)} is damaged") from error

    def _lines(self, epoch: int) -> list[str]:
        try:
            return (self.path / "offsets" / str(epoch)).read_text().split("\n")
        except OSError as error:
            raise self.broken(f"{self.path / 'offsets' / str(epoch)} cannot be read") from error


def _epochs(folder: Path) -> list[int]:
    if not folder.is_dir():
        return []
    return [int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()]


def _newest(folder: Path) -> int:
    return max(_epochs(folder), default=-1)
