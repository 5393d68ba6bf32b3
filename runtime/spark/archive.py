"""The class-data archive: Spark's classes parsed and verified once, and mapped into each later JVM.

Half of a short run's CPU goes into loading some 20,000 classes. A JVM that maps them from an archive skips
that. The archive depends on the Java, on Spark and on the exact jars, so it is made on the user's machine
and keyed by all of them; when one changes, the key changes, and a new archive is made.

How it is made: a *training process* of its own runs a small pipeline that touches what pipelines use, and
the JVM writes the archive as it exits (-XX:ArchiveClassesAtExit). `train_in_background` starts it after
the first session has ended, detached and at the lowest priority. The other way, that option on the user's
own first run, was measured and dropped: the JVM then stays for about 10 more seconds, holding cores and
memory at full priority; what is archived depends on what that run happened to do (`show` never loads the
state store, so every later `run` stays slow); and a run that is killed, or that goes on for weeks, leaves
nothing. A training run costs about two short runs of CPU once, when nobody waits for it.

The JVM checks an archive's header and the jars' times and sizes, and goes on without the archive when they do
not fit (-Xshare:auto). It does not survive a truncated file, though: it maps what is not there and dies of
SIGBUS as it starts. So a wrong size is found here, before the JVM is started; and when a JVM with an archive
does not start, or crashes later, `session` starts one without, and has the archive `discard`ed. A checksum at
each start (-XX:+VerifySharedSpaces) costs nearly a second of CPU and was dropped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from runtime.spark.cache import cache_dir
from runtime.spark.java import Java
from runtime.spark.launcher import spark_jars

_TOP = "spark.jsa"
_SIZES = "sizes.json"
_UNUSED_DAYS = 30
_RETRY_SECONDS = 24 * 3600.0
_TIMEOUT = 900.0

# Given to the training process: a configuration of the user's must not decide what it does, and the JVM
# refuses to write an archive for a class path with folders.
_STRIPPED = (
    "HADOOP_CONF_DIR",
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_GATEWAY_SECRET",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_CONF_DIR",
    "SPARK_REMOTE",
    "YARN_CONF_DIR",
)

# Trainers that this process started: the references keep Popen from complaining at exit.
_started: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class ArchiveKey:
    """What an archive is valid for: one Java and one list of jars.

    Attributes:
        java: The Java.
        extra_jars: The jars on the class path after Spark's own.
    """

    java: Java
    extra_jars: tuple[Path, ...] = ()

    def folder(self) -> Path:
        """Return the archive's folder in the cache, whether or not it exists."""
        jars = [_identity(jar) for jar in (*spark_jars(), *self.extra_jars)]
        digest = _digest([_java_identity(self.java), jars])
        return cache_dir() / "archives" / f"java{self.java.major}-{digest}"

    def needs_base(self) -> bool:
        """Say whether the Java came without an archive of its own classes, as the wheel's does."""
        return not (self.java.home / "lib" / "server" / "classes.jsa").exists()

    def base(self) -> Path:
        """Return where the base archive belongs, for a Java that needs one.

        The main archive records this path, so it is made there, and not moved there together with it.
        """
        return Path(f"{self.folder()}.base.jsa")


def enabled(environ: Mapping[str, str] | None = None) -> bool:
    """Say whether archives are used at all: HEADRACE_ARCHIVE=off switches them off."""
    environ = os.environ if environ is None else environ
    return environ.get("HEADRACE_ARCHIVE", "").lower() not in ("off", "0", "false", "no")


def find_archive(key: ArchiveKey) -> Path | None:
    """Return the finished archive, or None; one whose files are not as written is removed."""
    folder = key.folder()
    if not folder.is_dir():
        return None
    try:
        sizes = json.loads((folder / _SIZES).read_text(encoding="utf-8"))
        whole = sizes == _sizes(folder / _TOP, key)
    except (OSError, ValueError, TypeError):
        whole = False
    if not whole:
        discard(key)
    return folder / _TOP if whole else None


def archive_options(key: ArchiveKey) -> tuple[str, ...]:
    """Return the JVM options that use what archives there are now.

    An archive for Spark's jars alone also serves a longer class path, until the right one is made.

    Args:
        key: The Java and the jars that the JVM is to be started with.

    Returns:
        The options; none if there is no archive, or archives are switched off.
    """
    if not enabled():
        return ()
    for candidate in dict.fromkeys((key, ArchiveKey(key.java))):
        top = find_archive(candidate)
        if top is not None:
            _touch(top.parent)
            files = [str(candidate.base()), str(top)] if candidate.needs_base() else [str(top)]
            return ("-Xshare:auto", f"-XX:SharedArchiveFile={os.pathsep.join(files)}")
    return ()


def discard(key: ArchiveKey) -> None:
    """Remove an archive that is broken or suspected of it; the next training makes a new one."""
    shutil.rmtree(key.folder(), ignore_errors=True)
    with contextlib.suppress(OSError):
        key.base().unlink(missing_ok=True)


def ensure_archive(key: ArchiveKey, wait: bool = True) -> Path | None:
    """Make the archive if it is missing, and return when it is there.

    Args:
        key: What to make it for.
        wait: Whether to wait for another process that is making it.

    Returns:
        The archive, or None if archives are off, another process is at it (and wait is False), or
        the training failed: its log is beside the archive's folder.
    """
    if not enabled():
        return None
    folder = key.folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(f"{folder}.lock", timeout=-1 if wait else 0):
            found = find_archive(key)
            if found is not None:
                return found
            made = _make(key, folder)
            failed = Path(f"{folder}.failed")
            if made is None:
                failed.touch()
            else:
                failed.unlink(missing_ok=True)
                _prune(folder)
            return made
    except Timeout:
        return None


def train_in_background(key: ArchiveKey) -> bool:
    """Start making the archive in a detached process of the lowest priority, unless it is there.

    Args:
        key: What to make it for.

    Returns:
        Whether a process was started. After a failed training there is none for a day.
    """
    if not enabled() or find_archive(key) is not None or _failed_lately(key):
        return False
    arguments = ["make", str(key.java.home), *map(str, key.extra_jars)]
    try:
        process = subprocess.Popen(
            _trainer(arguments),
            env=_environment(archive="on"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            start_new_session=True,
        )
    except OSError:
        # An archive only saves time: nothing about it may fail a run.
        return False
    _started.append(process)
    return True


def _make(key: ArchiveKey, folder: Path) -> Path | None:
    """Run the training process and move its archive into place; the lock is held."""
    temporary = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        top, base = temporary / _TOP, key.base()
        options = [f"-XX:ArchiveClassesAtExit={top}"]
        if key.needs_base():
            _dump_base(key.java, base)
            options.append(f"-XX:SharedArchiveFile={base}")
        work = temporary / "work"
        arguments = ["query", str(work), json.dumps(options), str(key.java.home), *map(str, key.extra_jars)]
        with Path(f"{folder}.log").open("wb") as log:
            done = subprocess.run(
                _trainer(arguments),
                check=False,
                env=_environment(archive="off"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=temporary,
                timeout=_TIMEOUT,
            )
        if done.returncode != 0 or not top.is_file():
            return None
        shutil.rmtree(work, ignore_errors=True)
        (temporary / _SIZES).write_text(json.dumps(_sizes(top, key)), encoding="utf-8")
        temporary.rename(folder)
        return folder / _TOP
    except (OSError, subprocess.SubprocessError):
        return None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sizes(top: Path, key: ArchiveKey) -> dict[str, int]:
    """Return the sizes of an archive's files."""
    files = {"top": top} | ({"base": key.base()} if key.needs_base() else {})
    return {name: file.stat().st_size for name, file in files.items()}


def _dump_base(java: Java, base: Path) -> None:
    """Make the base archive (the JDK's own classes) of a Java that comes without one; about 1 s."""
    subprocess.run(
        [str(java.executable), "-Xshare:dump", f"-XX:SharedArchiveFile={base}"],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_TIMEOUT,
    )


def _trainer(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "runtime.spark.training", *arguments]


def _environment(archive: str) -> dict[str, str]:
    """Return the environment of the training process, in which `runtime` can be imported."""
    environ = {name: value for name, value in os.environ.items() if name not in _STRIPPED}
    root = str(Path(__file__).absolute().parent.parent.parent)
    path = environ.get("PYTHONPATH")
    environ["PYTHONPATH"] = f"{root}{os.pathsep}{path}" if path else root
    environ["HEADRACE_ARCHIVE"] = archive
    return environ


def _failed_lately(key: ArchiveKey) -> bool:
    try:
        return time.time() - Path(f"{key.folder()}.failed").stat().st_mtime < _RETRY_SECONDS
    except OSError:
        return False


def _touch(folder: Path) -> None:
    """Note that an archive is in use; a cache that cannot be written is no reason to fail."""
    with contextlib.suppress(OSError):
        os.utime(folder)


def _prune(keep: Path) -> None:
    """Remove archives that nothing has used for a month: each takes 150 MB or more."""
    for folder in keep.parent.glob("java*-*"):
        try:
            if (
                folder != keep
                and folder.is_dir()
                and time.time() - folder.stat().st_mtime > _UNUSED_DAYS * 86400
            ):
                shutil.rmtree(folder, ignore_errors=True)
                Path(f"{folder}.base.jsa").unlink(missing_ok=True)
        except OSError:
            continue


def _identity(path: Path) -> tuple[str, int, int]:
    """Return what the JVM compares of a jar: its path, size and time of change."""
    try:
        status = path.stat()
    except OSError:
        return str(path), -1, -1
    return str(path), status.st_size, int(status.st_mtime)


def _java_identity(java: Java) -> list[object]:
    library = java.home / "lib" / "server" / "libjvm.so"
    return [java.version, str(java.home), _identity(library)]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
