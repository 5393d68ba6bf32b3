"""What every service offers."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol


class Service(Protocol):
    """A server of this machine that keeps all it has in one folder.

    It listens on 127.0.0.1 alone, on a port that was free when it was first started in that folder.
    """

    @property
    def name(self) -> str:
        """As users write it."""
        ...

    def start(self, folder: Path) -> str:
        """Starts the server and waits until it answers; one that runs already is left alone.

        Args:
            folder: where its data, settings and log are; made if it is not there.

        Returns:
            The address that clients connect to.

        Raises:
            ServiceError: it could not be fetched, or did not come up.
        """
        ...

    def stop(self, folder: Path) -> bool:
        """Stops the server and waits for its end; its data stay. False says that it did not run."""
        ...

    def address(self, folder: Path) -> str | None:
        """The address of the server that runs on a folder, or None if none does."""
        ...


class ServiceError(Exception):
    """A server that could not be started, and what it said."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """As many different ones; asked for one after another, the same could come twice."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def listens(port: int) -> bool:
    """Whether somebody takes connections at a port of 127.0.0.1."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def is_alive(pid: int, word: str) -> bool:
    """Whether a process runs and is ours: a number may have been given to another since.

    Args:
        pid: its number.
        word: what must stand in its command line.
    """
    try:
        os.kill(pid, 0)
        command = Path(f"/proc/{pid}/cmdline")
        # A zombie has an empty command line; elsewhere than on Linux the number alone has to do.
        return word.encode() in command.read_bytes() if command.parent.is_dir() else True
    except OSError:
        return False


def end(pid: int, word: str, patience: float) -> None:
    """Asks a process to end, and kills it if it does not within `patience` seconds; 0 kills it at once.

    Args:
        pid: its number.
        word: what must stand in its command line.
        patience: seconds.
    """
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 10.0)):
        if seconds == 0:
            continue
        if not is_alive(pid, word):
            return
        os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while is_alive(pid, word) and time.monotonic() < deadline:
            time.sleep(0.05)
