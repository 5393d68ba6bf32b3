"""The state root: layout, lock, manifest.

manifest.json              which queries there are, and what their state looks like
lock, lock.jvm             held by the run and by its JVM, through the operating system
plans/<sha256>/plan.json   the plans that have begun an epoch that may have to be finished
plans/<sha256>/seeds/      the seeds that they were compiled with
queries/<uid>/checkpoint   Spark's checkpoint
queries/<uid>/current.json which plan began the query's newest epochs
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from compiler.diagnostics.codes import NOT_WRITABLE, STATE_BROKEN, STATE_LOCKED, STATE_OF_OTHER_PROJECT
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.codec import PlanFormatError, manifest_from_json, to_json
from compiler.jobplan.model import Manifest
from runtime.files import sync_folder, write_atomically
from runtime.state.checkpoint import Checkpoint

MANIFEST_VERSION = 1


@dataclass(frozen=True, slots=True)
class Current:
    """What is remembered of a query beside its checkpoint.

    Args:
        plan: sha256 of the plan that began the newest epochs.
        closed: whether all windows were closed at the end of a bounded run.
        reads: the names of that plan's reads in the order of their offsets (`runtime.state.reads`).
    """

    plan: str
    closed: bool = False
    reads: tuple[str, ...] | None = None


def read_manifest(root: Path) -> Manifest | None:
    """The manifest of a state root without locking it; None if nothing has run there.

    Raises:
        DiagnosticError: there is one, and it cannot be read.
    """
    file = root / "manifest.json"
    try:
        return manifest_from_json(file.read_text())
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, PlanFormatError) as error:
        raise DiagnosticError(
            Diagnostic(
                STATE_BROKEN,
                f"manifest {file} cannot be read",
                cause=str(error).splitlines()[0],
                fix="bring the file back from a copy, or use another state root",
            )
        ) from error


class StateRoot:
    """A state root that this process holds, from `with` to its end.

    Raises:
        DiagnosticError: held by another run, not writable, damaged, or of another project.
    """

    def __init__(self, path: Path, project: str) -> None:
        self.path = path
        self._project = project
        self._lock: FileLock | None = None

    def __enter__(self) -> Self:
        try:
            for name in ("plans", "queries"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            self._acquire()
        except OSError as error:
            self._release()
            raise DiagnosticError(
                Diagnostic(
                    NOT_WRITABLE,
                    f"state root {self.path} is not writable",
                    cause=error.strerror,
                    fix="correct the folder's permissions, or set 'state' of the target to another folder",
                )
            ) from error
        try:
            manifest = self.manifest()
        except DiagnosticError:
            self._release()
            raise
        if manifest.project != self._project:
            self._release()
            raise DiagnosticError(
                Diagnostic(
                    STATE_OF_OTHER_PROJECT,
                    f"state root {self.path} belongs to project {manifest.project}, not {self._project}",
                    fix="set 'state' of the target to a folder of its own",
                )
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def manifest(self) -> Manifest:
        """The manifest, an empty one if nothing has run here."""
        return read_manifest(self.path) or Manifest(MANIFEST_VERSION, self._project)

    def write_manifest(self, manifest: Manifest) -> None:
        """Replaces the manifest."""
        write_atomically(self.path / "manifest.json", to_json(manifest))

    def query_folder(self, uid: str) -> Path:
        """Folder of a query."""
        return self.path / "queries" / uid

    def checkpoint(self, uid: str) -> Checkpoint:
        """Checkpoint of a query, which may not exist yet."""
        return Checkpoint(self.query_folder(uid) / "checkpoint")

    def plan_folder(self, sha256: str) -> Path:
        """Folder of a plan and its seeds."""
        return self.path / "plans" / sha256

    def current(self, uid: str) -> Current | None:
        """What is remembered of a query, None if it has never been started."""
        file = self.query_folder(uid) / "current.json"
        try:
            raw = json.loads(file.read_text())
            reads = raw.get("reads")
            return Current(
                str(raw["plan"]), bool(raw["closed"]), None if reads is None else tuple(map(str, reads))
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self.checkpoint(uid).broken(f"{file} is damaged") from error

    def write_current(self, uid: str, current: Current) -> None:
        """Replaces what is remembered of a query."""
        self.query_folder(uid).mkdir(parents=True, exist_ok=True)
        text = json.dumps({"plan": current.plan, "closed": current.closed, "reads": current.reads}, indent=2)
        write_atomically(self.query_folder(uid) / "current.json", text + "\n")

    def forget(self, uid: str) -> None:
        """Deletes the state of a query, for --full-refresh; in one step, then at leisure."""
        folder = self.query_folder(uid)
        if folder.exists():
            grave = folder.with_name(f".gone-{uuid.uuid4()}")
            folder.rename(grave)
            sync_folder(folder.parent)
        for leftover in (self.path / "queries").glob(".gone-*"):
            shutil.rmtree(leftover, ignore_errors=True)

    def _acquire(self) -> None:
        file = self.path / "lock"
        holder = self.path / "lock.pid"
        lock = FileLock(file, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise DiagnosticError(
                Diagnostic(
                    STATE_LOCKED,
                    f"state root {self.path} is held by another run{_pid(holder)}",
                    cause="two runs at once would write the same epochs",
                    fix="wait for it, stop it, or use another target",
                )
            ) from None
        self._lock = lock
        holder.write_text(f"{os.getpid()}\n")

    def _release(self) -> None:
        if self._lock is not None:
            # It only names the holder; what keeps it from going must not keep the lock.
            with suppress(OSError):
                (self.path / "lock.pid").unlink(missing_ok=True)
            self._lock.release()
            self._lock = None


def _pid(file: Path) -> str:
    try:
        return f" (process {int(file.read_text())})"
    except (OSError, ValueError):
        return ""
