"""Where Spark's master is, and under which address the driver is found by those that it works with."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from runtime.spark.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOPBACK = "127.0.0.1"
_STANDALONE = "spark://"
_DEFAULT_PORT = 7077
_CONNECT_SECONDS = 5.0
_PATIENCE_SECONDS = 15.0
_POLL_SECONDS = 0.1
# By these a user says it himself, for this machine.
_SPARKS_VARIABLES = ("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME")


def is_local(master: str) -> bool:
    """Say whether executors are threads of the driver; `local-cluster[…]` has processes of its own."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def driver_address(master: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return the address of this machine that executors reach the driver by.

    Left alone, Spark asks what the machine's name resolves to, which may be nothing (no JVM starts then), the
    loopback, or the wrong one of several networks.

    Args:
        master: Spark's master.
        environ: The environment to look in, the process's own if None.

    Returns:
        The loopback address where nobody else connects, that of the network which leads to a standalone
        master, and None where Spark, or a variable of Spark's that the user has set, is to decide.
    """
    environ = os.environ if environ is None else environ
    if any(environ.get(name) for name in _SPARKS_VARIABLES):
        return None
    if is_local(master):
        return _LOOPBACK
    if not master.startswith(_STANDALONE):
        return None
    for host, port in _masters(master):
        try:
            for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM):
                with socket.socket(family, kind, protocol) as probe:
                    # Of a datagram socket this sends nothing: the system only chooses the way.
                    probe.connect(address)
                    return str(probe.getsockname()[0])
        except OSError:
            continue
    return None


def check_master(master: str) -> None:
    """See that a standalone master answers; Spark itself tries for a minute before it gives up.

    Raises:
        EnvironmentProblem: HR611 if none of the masters that the address names can be connected to.
    """
    if not master.startswith(_STANDALONE):
        return
    told: list[str] = []
    for host, port in _masters(master):
        try:
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
            return
        except OSError as error:
            told.append(f"{host}:{port}: {error.strerror or error}")
    raise EnvironmentProblem(
        "HR611",
        f"The Spark master {master} cannot be reached.",
        "\n".join(told),
        "Start the master, or correct `master` of the target: spark://host:port, as the master's log has it.",
    )


def wait_for_executor(spark: SparkSession, waiting: Callable[[], None]) -> None:
    """Wait until a cluster has given a session an executor; a job would do so too, deaf to signals.

    Args:
        spark: The session.
        waiting: Called once if it takes long.
    """
    context: Any = spark.sparkContext
    # With dynamic allocation an executor may come with the first job only.
    if is_local(context.master) or spark.conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return
    told, began = False, time.monotonic()
    # The driver is one of those that are listed.
    while len(context._jsc.sc().statusTracker().getExecutorInfos()) <= 1:
        if not told and time.monotonic() - began > _PATIENCE_SECONDS:
            told = True
            waiting()
        time.sleep(_POLL_SECONDS)


def _masters(master: str) -> list[tuple[str, int]]:
    """Split an address, which names several masters where one stands by for another.

    Raises:
        EnvironmentProblem: HR611 if it is no address.
    """
    found: list[tuple[str, int]] = []
    for part in master.removeprefix(_STANDALONE).split(","):
        try:
            address = urlsplit(f"//{part}")
            host, port = address.hostname, address.port
        except ValueError:
            host = port = None
        if not host:
            raise EnvironmentProblem(
                "HR611",
                f"{master} is no address of a Spark master.",
                f"{part!r} names no host and port.",
                "Write `master` of the target as spark://host:port, or spark://host1:port1,host2:port2.",
            )
        found.append((host, port or _DEFAULT_PORT))
    return found
