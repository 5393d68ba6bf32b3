"""Whose output a folder is, and the refusals that follow from it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from compiler.diagnostics.codes import FOREIGN_OUTPUT, NOT_WRITABLE, OTHER_INCARNATION, OUTPUT_GONE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Sink
from runtime.connectors import paths
from runtime.files import TEMPORARY, write_atomically

# Begins with an underscore, as Spark's own bookkeeping does: readers of the folder pass it over.
# No extension: some readers take `*.json` for data, whatever it begins with.
MARKER = "_headrace"


@dataclass(frozen=True, slots=True)
class Marker:
    """Says which sink of which project writes a folder, and since which checkpoint."""

    project: str
    sink: str
    incarnation: str


def output_folder(sink: Sink, project_dir: Path) -> Path:
    """The folder that the option `path` names.

    Raises:
        DiagnosticError: it is not on a local file system; claims and clean-ups work on local ones only.
    """
    path = str(sink.options["path"])
    if paths.is_url(path) and not path.startswith("file://"):
        problem = f"sink {sink.uid} cannot write to {path}"
        cause = "exactly-once files and tables are written to local paths only so far"
        raise DiagnosticError(Diagnostic(NOT_WRITABLE, problem, cause=cause))
    return paths.local(path.removeprefix("file://"), project_dir)


def read_marker(folder: Path) -> Marker | None:
    """The folder's marker, or None if there is none that can be read."""
    try:
        raw = json.loads((folder / MARKER).read_text())
        return Marker(raw["project"], raw["sink"], raw["incarnation"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def write_marker(folder: Path, marker: Marker) -> None:
    """Claims the folder."""
    write_atomically(folder / MARKER, json.dumps({"headrace": 1, **asdict(marker)}, indent=2) + "\n")


def is_empty(folder: Path, *passed_over: str) -> bool:
    """Whether nobody has anything in it; what a killed claim left does not count, nor do some names."""
    names = [entry.name for entry in folder.iterdir()] if folder.exists() else []
    return all(name.startswith(TEMPORARY) or name in passed_over for name in names)


def foreign(sink: str, path: Path | str, cause: str, place: str = "path") -> DiagnosticError:
    """The refusal to write among things that headrace did not write."""
    return DiagnosticError(
        Diagnostic(
            FOREIGN_OUTPUT,
            f"sink {sink} would write into {path}, which holds what this sink did not write",
            cause=cause,
            fix=f"give the sink a {place} of its own, or move away what is there",
        )
    )


def other_incarnation(sink: str, path: Path | str, place: str = "path") -> DiagnosticError:
    """The refusal to append to rows whose state is gone: a fresh state counts its epochs from 0 again."""
    return DiagnosticError(
        Diagnostic(
            OTHER_INCARNATION,
            f"{path} holds epochs of sink {sink} whose state is gone",
            cause="the query starts from the beginning, so its rows would be there twice, or be taken for "
            "epochs that were written before and be skipped",
            fix="bring the old state root back; or run with --full-refresh, which empties what this sink "
            f"wrote and starts over; or give the sink another {place}",
        )
    )


def newer_than_state(sink: str, path: Path | str, written: int, begun: int) -> DiagnosticError:
    """The refusal to go on from an older copy of the state: the epochs in between would be skipped."""
    return DiagnosticError(
        Diagnostic(
            OTHER_INCARNATION,
            f"{path} holds epoch {written} of sink {sink}, but its state only reaches epoch {begun}",
            cause="the state was set back to an older copy; the epochs in between would be taken for "
            "written and be skipped",
            fix="bring the newest state back, or run with --full-refresh",
        )
    )


def older_than_state(sink: str, path: Path | str, written: int, done: int) -> DiagnosticError:
    """The refusal to go on in an output that lacks epochs which will not come again."""
    has = f"only those up to {written}" if written >= 0 else "none of them"
    return DiagnosticError(
        Diagnostic(
            OUTPUT_GONE,
            f"{path} lacks epochs of sink {sink} that its state has written",
            cause=f"the epochs up to {done} are done, and {has} are there: it was emptied or set back to an "
            "older copy, or the sink was given another path; their rows do not come again",
            fix="bring back what was there; or run with --full-refresh, which starts over; or give the sink "
            "another uid with its path, with which it begins anew",
        )
    )
