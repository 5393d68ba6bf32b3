"""A Kafka broker of one node, from Maven's jars, in a Java process with a small heap."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from filelock import FileLock

from pipelines.services.base import ServiceError, end, free_ports, is_alive, listens
from runtime.spark.cache import cache_dir
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.java import find_java
from runtime.spark.launcher import spark_jars

VERSION: Final = "4.4.0"
_COORDINATES: Final = ("org.apache.kafka", "kafka_2.13", VERSION)
_BROKER: Final = "kafka.Kafka"
_PID, _LOG, _SETTINGS, _DATA = "pid", "broker.log", "server.properties", "data"
# Class data of the JVM's own classes, one compiler, one thread for the collector: a broker for tests is
# up in seconds and takes little of a small machine.
_JVM: Final = ("-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
_LOGIN: Final = "LOGIN"
_FETCH_SECONDS: Final = 600.0
_START_SECONDS: Final = 120.0
_POLL_SECONDS: Final = 0.1


class Kafka:
    """Broker and controller in one process (KRaft), known by a file with its number."""

    name = "kafka"

    def __init__(self, logins: Mapping[str, str] | None = None) -> None:
        """Args: logins: users with their passwords, who are let in at a listener of their own."""
        self._logins = logins or {}
        # Kept so that Python does not take a server that goes on running for one that was forgotten.
        self._started: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, folder: Path) -> str:
        """Starts the broker; the first start in a folder formats its storage."""
        running = self.address(folder)
        if running is not None:
            return running
        jars = _jars()
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / _SETTINGS
        if not settings.exists():
            self._format(folder, jars)
        with (folder / _LOG).open("ab") as log:
            process = subprocess.Popen(
                [*_java(jars), _BROKER, str(settings)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started[process.pid] = process
        (folder / _PID).write_text(str(process.pid))
        address, deadline = f"127.0.0.1:{_port(settings)}", time.monotonic() + _START_SECONDS
        # The broker opens its port once it has joined the cluster, so a connection means that it serves.
        while not listens(_port(settings)):
            if process.poll() is not None or time.monotonic() > deadline:
                self.stop(folder)
                raise ServiceError(f"the broker did not come up:\n{_tail(folder / _LOG)}")
            time.sleep(_POLL_SECONDS)
        return address

    def stop(self, folder: Path) -> bool:
        """Lets the broker close its logs, and kills it if that takes too long."""
        return self._end(folder, patience=20)

    def kill(self, folder: Path) -> None:
        """Kills the broker where it stands, as a crash would."""
        self._end(folder, patience=0)

    def address(self, folder: Path) -> str | None:
        """Its bootstrap server."""
        if _pid(folder) is None:
            return None
        port = _port(folder / _SETTINGS)
        return f"127.0.0.1:{port}" if listens(port) else None

    def login_address(self, folder: Path) -> str:
        """The address of the listener that asks for a login."""
        found = re.search(rf"{_LOGIN}://([\d.]+:\d+)", (folder / _SETTINGS).read_text())
        assert found is not None
        return found[1]

    def _end(self, folder: Path, patience: float) -> bool:
        pid = _pid(folder)
        if pid is None:
            return False
        end(pid, _BROKER, patience)
        process = self._started.pop(pid, None)
        if process is not None:
            process.wait()
        (folder / _PID).unlink(missing_ok=True)
        return True

    def _format(self, folder: Path, jars: Path) -> None:
        shutil.rmtree(folder / _DATA, ignore_errors=True)
        settings = folder / f"{_SETTINGS}.new"
        values = _settings(folder / _DATA, free_ports(3), self._logins)
        settings.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        # A name that begins with a dash would be taken for an option.
        cluster = f"k{cluster[1:]}"
        command = [*_java(jars), "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(settings)]
        _run(command, "the broker's storage could not be formatted")
        settings.rename(folder / _SETTINGS)


KAFKA: Final = Kafka()


def _settings(data: Path, ports: Sequence[int], logins: Mapping[str, str]) -> dict[str, object]:
    """The smallest broker: one copy of everything, and no waiting for others that will not come."""
    port, controller, login = ports
    values: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": data,
        # A topic that nobody made is a mistake that a test wants to see.
        "auto.create.topics.enable": "false",
        "num.partitions": 1,
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
        # Records as old as test data are stay: Kafka goes by the times that they carry.
        "log.retention.ms": -1,
        "log.cleaner.dedupe.buffer.size": 4 * 1024 * 1024,
        "controlled.shutdown.enable": "false",
    }
    return {**values, **_login_settings(values, login, logins)} if logins else values


def _login_settings(values: Mapping[str, object], port: int, logins: Mapping[str, str]) -> dict[str, object]:
    """One listener more, which asks for a login. Passwords for SCRAM are set by an administrator's call."""
    listener = f"{_LOGIN}://127.0.0.1:{port}"
    users = " ".join(f'user_{name}="{password}"' for name, password in logins.items())
    own, protocols = f"listener.name.{_LOGIN.lower()}", values["listener.security.protocol.map"]
    return {
        # The listener without a login comes last, where its port is looked for.
        "listeners": f"{listener},{values['listeners']}",
        "advertised.listeners": f"{listener},{values['advertised.listeners']}",
        "listener.security.protocol.map": f"{protocols},{_LOGIN}:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        f"{own}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        f"{own}.plain.sasl.jaas.config": (
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};"
        ),
        f"{own}.scram-sha-256.sasl.jaas.config": (
            "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        ),
    }


def _java(jars: Path) -> list[str]:
    return [str(find_java().executable), *_JVM, "-cp", f"{jars}{os.sep}*"]


def _jars() -> Path:
    """The folder of the broker's jars in the user's cache; Ivy, which pyspark ships, fills it once."""
    folder = cache_dir() / "services" / f"kafka-{VERSION}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if folder.is_dir():
            return folder
        temporary = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        try:
            ivy = next(jar for jar in spark_jars() if jar.name.startswith("ivy-"))
            command = [str(find_java().executable), "-cp", str(ivy), "org.apache.ivy.Main"]
            command += ["-cache", str(temporary / "ivy"), "-dependency", *_COORDINATES, "-confs", "default"]
            command += ["-types", "jar", "bundle", "-retrieve"]
            command += [f"{temporary}/jars/[artifact]-[revision](-[classifier]).[ext]"]
            _run(command, f"{':'.join(_COORDINATES)} could not be fetched", _FETCH_SECONDS)
            # Renamed when it is complete, so that its presence is enough.
            (temporary / "jars").rename(folder)
        except EnvironmentProblem as error:
            raise ServiceError(str(error)) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _run(command: list[str], problem: str, timeout: float = _START_SECONDS) -> None:
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, errors="replace", timeout=timeout
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceError(f"{problem}: {error}") from error
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise ServiceError("\n".join([f"{problem}:", *lines[-8:]]))


def _pid(folder: Path) -> int | None:
    try:
        pid = int((folder / _PID).read_text())
    except (OSError, ValueError):
        return None
    return pid if is_alive(pid, _BROKER) else None


def _port(settings: Path) -> int:
    found = re.search(r"^advertised\.listeners=.*:(\d+)$", settings.read_text(), re.MULTILINE)
    assert found is not None
    return int(found.group(1))


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-8:])
