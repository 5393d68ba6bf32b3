"""A process from which Spark's Python workers are forked."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Final

_SCRIPT: Final = """\
#!/bin/sh
case "$2" in
    pyspark.daemon | pyspark.sql.streaming.transform_with_state_driver_worker)
        if [ -S {socket} ]; then exec {python} -I -S {client} {socket} "$@"; fi ;;
esac
exec {python} "$@"
"""


class Nursery:
    """Starts workers as forks of a process that has imported what they use.

    It ends with the process that made it; workers that it has forked live on as long as Spark wants.

    Args:
        folder: where its files are; its path must be short enough for the name of a socket (about 80 bytes).
    """

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "workers.sock"
        self._script = folder / "python"
        self._server: subprocess.Popen[bytes] | None = None

    def python(self) -> str:
        """Return the path of a Python for Spark, which works whether the nursery runs or not."""
        here = Path(__file__).parent
        paths = {"socket": self._socket, "python": sys.executable, "client": here / "client.py"}
        quoted = {name: shlex.quote(str(path)) for name, path in paths.items()}
        self._script.write_text(_SCRIPT.format(**quoted), encoding="utf-8")
        self._script.chmod(0o700)
        return str(self._script)

    def start(self) -> None:
        """Start the process, which is ready after a second or two; until then workers start as usual."""
        if self._server is not None:
            return
        self._server = subprocess.Popen(
            # Unbuffered, as Spark starts workers: what they print would be lost at their end.
            [sys.executable, "-u", "-m", "runtime.spark.workers.server", str(self._socket)],
            # It watches this pipe for our end.
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A Ctrl-C in the terminal is the driver's to answer.
            start_new_session=True,
            # As Spark sets them for its workers; set later they would have no effect.
            env=dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1"),
        )

    def stop(self) -> None:
        """End the process; without one, nothing happens."""
        server, self._server = self._server, None
        if server is not None and server.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                server.stdin.close()
            server.wait()
