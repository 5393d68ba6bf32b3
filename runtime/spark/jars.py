"""Fetch Maven packages once into the user's cache, so that later starts need no network and no Ivy.

Spark's own mechanism (spark.jars.packages) does the fetching, in a short JVM: so whatever steers it for
a user's other Spark programs steers it here too, such as spark.jars.ivySettings, spark.jars.repositories,
spark-defaults.conf and the local Maven repository. Ivy called directly reads none of them. Left to
itself, though, Spark resolves at every start, which costs seconds and fails without a network.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from filelock import FileLock

from runtime.spark.cache import cache_dir
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.java import Java
from runtime.spark.launcher import MODULE_OPTIONS, pyspark_home, spark_jars

RESOLVER_CONF = (
    "spark.jars.ivy",
    "spark.jars.ivySettings",
    "spark.jars.repositories",
    "spark.jars.excludes",
)
"""The parts of Spark's configuration that decide what a resolution finds."""

# Any main class would do, since SparkSubmit resolves before it runs one. This one is in a jar that Spark
# ships, prints one line and ends.
_MAIN_CLASS = ("--class", "org.apache.ivy.Main", "spark-internal", "-version")
_TIMEOUT = 900.0
# Two resolutions that fill one cache of Ivy's at once break each other's files (Ivy 2.5, as Spark 4.2.0 sets
# it up), and that cache is the user's, whatever packages are asked for and wherever headrace keeps its own.
_IVY_LOCK = Path(tempfile.gettempdir()) / f"headrace-ivy-{os.getuid()}.lock"


class PackagesUnavailable(EnvironmentProblem):
    """Packages could not be fetched (HR602).

    Attributes:
        coordinates: The packages that were asked for.
    """

    def __init__(self, coordinates: tuple[str, ...], cause: str) -> None:
        super().__init__(
            "HR602",
            f"Could not fetch {', '.join(coordinates)}.",
            cause,
            "Check the coordinates and the network, or name a mirror with spark.jars.repositories or "
            "spark.jars.ivySettings. Once fetched, packages are kept and need no network.",
        )
        self.coordinates = coordinates

    def __reduce__(self) -> tuple[type[PackagesUnavailable], tuple[tuple[str, ...], str]]:
        return type(self), (self.coordinates, self.cause)


def resolve_packages(
    java: Java, packages: Iterable[str], conf: Mapping[str, str] | None = None
) -> tuple[Path, ...]:
    """Return the jars of Maven packages and of all they depend on, less what Spark ships.

    Args:
        java: The Java to run the resolution with.
        packages: Coordinates, as group:artifact:version.
        conf: Spark's configuration; only RESOLVER_CONF matters.

    Returns:
        The jars in the cache, sorted.

    Raises:
        PackagesUnavailable: HR602, if they are not in the cache and cannot be fetched.
    """
    coordinates = tuple(sorted(set(packages)))
    if not coordinates:
        return ()
    steering = {key: value for key, value in (conf or {}).items() if key in RESOLVER_CONF}
    folder = cache_dir() / "packages" / _key(coordinates, steering)
    # The folder is renamed into place when it is complete, so its presence is enough.
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(_IVY_LOCK):
            if not folder.is_dir():
                _fill(folder, _fetch_twice(java, coordinates, steering), coordinates)
    return tuple(sorted(folder.glob("*.jar")))


def artifact_of(jar: str) -> str:
    """Return the artifact that a jar's file name names, without its version."""
    name = jar.removesuffix(".jar")
    # The version is what begins with a number and a dot: `0-10_2.13` in a name has none, and a version
    # such as `1.5.7-3` has dashes of its own.
    without = re.sub(r"-\d+\..*$", "", name)
    return without if without != name else re.sub(r"-\d\w*$", "", name)


def _key(coordinates: tuple[str, ...], steering: Mapping[str, str]) -> str:
    # What Spark ships decides what is left out, so its jars are part of the key.
    shipped = [jar.name for jar in spark_jars()]
    text = json.dumps([coordinates, sorted(steering.items()), shipped])
    label = re.sub(r"[^\w.-]+", "_", coordinates[0].split(":", 1)[-1])[:60]
    return f"{label}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _fill(folder: Path, jars: list[Path], coordinates: tuple[str, ...]) -> None:
    """Copy the jars that Spark lacks into a new folder, and rename it into place."""
    shipped = {artifact_of(jar.name) for jar in spark_jars()}
    temporary = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        for jar in jars:
            # Ivy's retrieval names a jar group_artifact-version.jar.
            if artifact_of(jar.name.partition("_")[2]) not in shipped:
                shutil.copyfile(jar, temporary / jar.name)
        (temporary / "packages.txt").write_text("\n".join(coordinates) + "\n", encoding="utf-8")
        temporary.rename(folder)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise PackagesUnavailable(coordinates, f"The cache could not be written: {error}") from error


def _fetch_twice(java: Java, coordinates: tuple[str, ...], steering: Mapping[str, str]) -> list[Path]:
    """Fetch once more if it failed: another program, or the network, may have been in the way."""
    try:
        return _fetch(java, coordinates, steering)
    except PackagesUnavailable:
        return _fetch(java, coordinates, steering)


def _fetch(java: Java, coordinates: tuple[str, ...], steering: Mapping[str, str]) -> list[Path]:
    """Let Spark resolve packages, and return the jars that it would put on the class path."""
    home = pyspark_home()
    command = [str(java.executable), *MODULE_OPTIONS, "-XX:TieredStopAtLevel=1"]
    command += ["-cp", os.pathsep.join(map(str, spark_jars())), "org.apache.spark.deploy.SparkSubmit"]
    command += ["--verbose", "--master", "local", "--conf", f"spark.jars.packages={','.join(coordinates)}"]
    for key, value in steering.items():
        command += ["--conf", f"{key}={value}"]
    environ = dict(os.environ, SPARK_HOME=str(home), JAVA_HOME=str(java.home))
    try:
        done = subprocess.run(
            [*command, *_MAIN_CLASS],
            check=False,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PackagesUnavailable(coordinates, str(error)) from error
    _, found, listing = done.stdout.partition("\nClasspath elements:\n")
    lines = listing.split("\n\n", 1)[0].splitlines()
    jars = [_local(line) for line in lines if line.endswith(".jar")]
    if done.returncode != 0 or not found or not jars:
        raise PackagesUnavailable(coordinates, _cause(done.stdout))
    return jars


def _local(element: str) -> Path:
    """Return the path of a class path element, which may be a file: address."""
    return Path(unquote(urlsplit(element).path)) if element.startswith("file:") else Path(element)


def _cause(output: str) -> str:
    """Pick the lines of Ivy's report that say what went wrong."""
    telling = re.compile(
        r"not found|unresolved dependency|access error|Exception|Host .* not found|timed out"
    )
    lines = [line.strip(" :\t") for line in output.splitlines() if telling.search(line)]
    # A report repeats itself, and a stack trace adds nothing.
    picked = [line for line in dict.fromkeys(lines) if line and not line.startswith("at ")]
    return "\n".join(picked[:8]) or "\n".join(output.splitlines()[-8:]) or "The resolver said nothing."
