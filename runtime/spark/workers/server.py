"""The nursery's process: `python -m runtime.spark.workers.server SOCKET`.

It forks a worker for each client, in the client's environment and with its standard streams, until its own
standard input ends.
"""

from __future__ import annotations

import array
import json
import os
import runpy
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

from runtime.spark.workers.preload import preload

_STREAMS = 3


def serve(path: Path) -> None:
    """Listen at a socket and fork a worker for each connection.

    Args:
        path: where the socket is made; it shows up only when workers can be forked at once.
    """
    preload()
    # Nobody waits for the workers: their clients learn from the socket.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    unseen = path.with_suffix(".starting")
    listener.bind(str(unseen))
    listener.listen(64)
    unseen.rename(path)
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            path.unlink(missing_ok=True)
            return
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _work(connection)
        connection.close()


def _work(connection: socket.socket) -> None:
    """Be the worker that a client asks for. Does not return."""
    code = 1
    try:
        asked, streams = _receive(connection)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(asked["environ"])
        os.chdir(asked["folder"])
        for folder in reversed(asked["environ"].get("PYTHONPATH", "").split(os.pathsep)):
            if folder and folder not in sys.path:
                sys.path.insert(0, folder)
        sys.argv = asked["command"]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  # it is the worker's, and Spark shows its stderr
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(bytes([code & 255]))
        finally:
            os._exit(code)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a client sends: the length of its request with its standard streams, then the request."""
    size = array.array("i").itemsize
    data, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(_STREAMS * size))
    streams = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            streams.frombytes(content)
    with connection.makefile("rb") as file:
        asked: dict[str, Any] = json.loads(file.read(int.from_bytes(data, "big")))
    return asked, list(streams)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
