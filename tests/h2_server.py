"""A server of H2, a database that is reached by JDBC alone; read without the code under test."""

from __future__ import annotations

import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from compiler.jobplan.databases import DRIVERS
from pipelines.services.base import free_port
from runtime.spark.jars import resolve_packages
from runtime.spark.java import find_java


class H2Server:
    """A server on a folder, in a process of its own; databases are made when they are first connected to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        return f"jdbc:h2:tcp://127.0.0.1:{self.port}/./{database}"

    def start(self) -> None:
        java = find_java()
        (jar,) = resolve_packages(java, [DRIVERS["jdbc:h2:"].package])
        command = [str(java.executable), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", str(jar)]
        command += ["org.h2.tools.Server", "-tcp", "-tcpPort", str(self.port), "-ifNotExists"]
        self._process = subprocess.Popen(
            [*command, "-baseDir", str(self.folder)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self._process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)

    def stop(self) -> None:
        """Ends the server, which writes what was committed; killed, it may lose half a second of it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


@dataclass
class H2Database:
    """A database of a server; `options` are those of a sink that writes to it."""

    session: SparkSession
    server: H2Server
    name: str

    @property
    def options(self) -> dict[str, Any]:
        return {"url": self.server.url(self.name), "username": "sa", "password": "hunter2"}

    def execute(self, *statements: str) -> None:
        connection = self._connect()
        for statement in statements:
            connection.createStatement().execute(statement)
        connection.close()

    def rows(self, query: str) -> list[tuple[str | None, ...]]:
        """The rows, each value as text."""
        connection = self._connect()
        found = connection.createStatement().executeQuery(query)
        width = found.getMetaData().getColumnCount()
        rows: list[tuple[str | None, ...]] = []
        while found.next():
            rows.append(tuple(found.getString(n + 1) for n in range(width)))
        connection.close()
        return rows

    def _connect(self) -> Any:
        jvm: Any = self.session._jvm
        properties = jvm.java.util.Properties()
        properties.setProperty("user", "sa")
        properties.setProperty("password", "hunter2")
        return jvm.org.h2.Driver().connect(self.server.url(self.name), properties)
