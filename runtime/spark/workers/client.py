"""Stands for a worker that the nursery forks: `python client.py SOCKET -m MODULE`.

It runs in a Python without `site` (10 ms), hands over its environment and its standard streams, and ends as
the worker ends. If the nursery cannot be reached it becomes the worker itself, the slow way.
"""

import json
import os
import socket
import sys


def main() -> None:
    """Hand over, and wait."""
    path, command = sys.argv[1], sys.argv[2:]
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        # Not sys.executable's -I -S: the worker needs its packages.
        os.execv(sys.executable, [sys.executable, *command])  # noqa: S606  # as Spark asked
    asked = json.dumps({"command": command[1:], "environ": dict(os.environ), "folder": os.getcwd()}).encode()
    socket.send_fds(connection, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    connection.sendall(asked)
    # The worker holds the other end until it is done.
    code = connection.recv(1)
    os._exit(code[0] if code else 1)


main()
