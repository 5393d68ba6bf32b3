"""A standalone cluster on this machine whose workers have what is installed, and nothing of headrace."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark
from processes import command, descendants

from pipelines.services.base import free_port, listens
from runtime.spark.java import Java, find_java
from runtime.spark.launcher import MODULE_OPTIONS, spark_jars

_JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_START_SECONDS = 60.0
NAMESPACE = ("unshare", "--user", "--map-root-user")
"""Begins a command that sees things of the system as it wants them, where a user may do so."""
OWN_DISK = 'mount -t tmpfs none "$1" && shift && exec "$@"'
_EXECUTOR = b"CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Cluster:
    """A master and its workers.

    Attributes:
        master: its address.
        python: the interpreter that all machines are said to have.
        workers: the workers' processes.
    """

    master: str
    python: Path
    workers: tuple[subprocess.Popen[bytes], ...]

    def kill(self, worker: int) -> int:
        """Kills a worker, and the executors below it, where they stand; gives how many these were."""
        process = self.workers[worker]
        executors = [pid for pid in descendants(process.pid) if _EXECUTOR in command(pid)]
        # The worker first, which would else start another executor.
        for pid in (process.pid, *executors):
            os.kill(pid, signal.SIGKILL)
        process.wait()
        return len(executors)


@contextlib.contextmanager
def spark_cluster(
    folder: Path, workers: int, java_home: Path | None = None, own_disk: Path | None = None
) -> Iterator[Cluster]:
    """Runs a cluster with one core and 1 GB a worker.

    Args:
        folder: where its files are; the workers run in a folder of it that is empty.
        workers: how many.
        java_home: the executors' Java, that of this machine by default.
        own_disk: a folder in whose place the workers have a disk of their own.
    """
    java, started = find_java(), list[subprocess.Popen[bytes]]()
    empty = folder / "empty"
    empty.mkdir(parents=True)
    python = bare_python(folder / "python")
    environ = {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": str(java_home or _for_executors(java, folder / "java")),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        # Spark's scripts set it; without, the worker looks for the folders of a build.
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }

    def start(name: str, main: str, *arguments: str, before: Sequence[str] = ()) -> None:
        command = [
            *before,
            str(java.executable),
            *MODULE_OPTIONS,
            *_JVM,
            "-cp",
            os.pathsep.join(map(str, spark_jars())),
        ]
        with (folder / f"{name}.log").open("ab") as log:
            started.append(
                subprocess.Popen(
                    [*command, f"org.apache.spark.deploy.{main}", "--host", "127.0.0.1", *arguments],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ, cwd=empty,
                    start_new_session=True,
                )
            )  # fmt: skip

    alone = [*NAMESPACE, "--mount", "sh", "-c", OWN_DISK, "sh", str(own_disk)] if own_disk else []
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    try:
        start("master", "master.Master", "--port", str(port), "--webui-port", "0")
        _wait(lambda: listens(port), folder / "master.log")
        for number in range(workers):
            name = f"worker{number}"
            start(name, "worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0",
                  "--work-dir", str(folder / name), master, before=alone)  # fmt: skip
        for number in range(workers):
            _wait_for_line(folder / f"worker{number}.log", b"Successfully registered with master")
        yield Cluster(master, python, tuple(started[1:]))
    finally:
        for process in started:
            below = [] if process.poll() is not None else descendants(process.pid)
            for pid in (process.pid, *below):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def without_headrace(python: Path, code: str, folder: Path, path: Path | None = None) -> str:
    """Runs code as a worker would: in a folder of its own, and without this process's path.

    Args:
        python: the interpreter.
        code: what it runs.
        folder: the folder.
        path: what there is beside its packages.

    Returns:
        All that it writes.
    """
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environ["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [str(python), "-c", code], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def bare_python(script: Path, lacks: str | None = None) -> Path:
    """This Python with its packages, less what .pth files add to it, such as an editable headrace.

    Args:
        script: the program to make.
        lacks: the package that is to be missing.
    """
    packages = script.with_name(f"{script.name}-packages")
    packages.mkdir()
    for folder in (path for path in sys.path if Path(path).name in {"site-packages", "dist-packages"}):
        for entry in Path(folder).iterdir():
            if entry.name != lacks and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    path, python = shlex.quote(str(packages)), shlex.quote(sys.executable)
    script.write_text(f'#!/bin/sh\nPYTHONPATH={path}${{PYTHONPATH:+:$PYTHONPATH}} exec {python} -S "$@"\n')
    script.chmod(0o700)
    return script


def _for_executors(java: Java, folder: Path) -> Path:
    """A home for a Java that lacks the vector module, for which Spark asks on behalf of executors."""
    if java.kind == "system":
        return java.home
    script = folder / "bin/java"
    script.parent.mkdir(parents=True)
    script.write_text(
        "#!/bin/bash\nfor option; do shift; "
        '[ "$option" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$option"; done\n'
        f'exec {shlex.quote(str(java.executable))} "$@"\n'
    )
    script.chmod(0o700)
    return folder


def _wait(ready: Callable[[], bool], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while not ready():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)


def _wait_for_line(log: Path, line: bytes) -> None:
    _wait(lambda: line in log.read_bytes(), log)
