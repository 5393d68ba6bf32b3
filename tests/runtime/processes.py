"""Processes below another, as Linux tells of them."""

from __future__ import annotations

from pathlib import Path


def descendants(root: int) -> dict[int, int]:
    """All processes below one, with their parents."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: dict[int, int] = {}
    ours = {root}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        found |= {pid: parents[pid] for pid in more}
        ours |= more
    return found


def command(pid: int) -> bytes:
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
