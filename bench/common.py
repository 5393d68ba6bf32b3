"""What the benches share: the CPU time of a command with all that it starts."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Usage:
    """What a command took, in seconds. `cpu` is user and system time of all its descendants."""

    wall: float
    cpu: float


class CommandFailed(Exception):
    """A measured command ended with an error; the message has the end of its output."""


def headrace() -> str:
    """The program of this environment."""
    return str(Path(sys.executable).with_name("headrace"))


def measure(
    command: Sequence[str], *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> Usage:
    """Runs a command and waits for all that it started, a JVM that outlives it included.

    Raises:
        CommandFailed: its exit code was not 0.
    """
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "usage.json"
        done = subprocess.run(
            [sys.executable, __file__, str(result), *command],
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            # Without a JVM's frames, which are so many that they would hide the cause.
            said = (line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("\tat "))
            tail = "\n".join(said)[-4000:]
            raise CommandFailed(f"{' '.join(command)} ended with {done.returncode}:\n{tail}")
        return Usage(**json.loads(result.read_text(encoding="utf-8")))


def tree_cpu() -> float:
    """Seconds of user and system time of this process and all below it: the JVM and its Python workers."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        process = int(stat.parent.name)
        # Children that have ended are counted by those that waited for them.
        parents[process], ticks[process] = int(fields[1]), sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks[process] for process in ours) / os.sysconf("SC_CLK_TCK")


def _wrap(result: Path, command: Sequence[str]) -> int:
    """Runs the command as its only work, so that all children's usage is the command's.

    As a subreaper this process inherits orphans of the command and can wait for them.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    start = time.perf_counter()
    code = subprocess.run(command, check=False).returncode
    wall = time.perf_counter() - start
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    result.write_text(json.dumps({"wall": wall, "cpu": used.ru_utime + used.ru_stime}), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(_wrap(Path(sys.argv[1]), sys.argv[2:]))
