"""The class-data archive: made once, found by its key, harmless when broken."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runtime.spark import archive
from runtime.spark.archive import (
    ArchiveKey,
    archive_options,
    ensure_archive,
    find_archive,
    train_in_background,
)
from runtime.spark.java import find_java
from runtime.spark.launcher import MODULE_OPTIONS, spark_jars

# Stands in for the training pipeline: a JVM that ends at once and archives the little that it loaded.
TRAINER = """
import json, os, subprocess, sys
folder, options, home, *jars = sys.argv[2:]
with open(os.environ["TRAINED"], "a") as file:
    file.write("x")
subprocess.run(
    [home + "/bin/java", *json.loads(os.environ["JAVA_OPTIONS"]), *json.loads(options)]
    + ["-cp", os.environ["TRAIN_PATH"], "org.apache.ivy.Main", "-version"],
    check=True,
)
"""


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ArchiveKey:
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HEADRACE_ARCHIVE", raising=False)
    monkeypatch.setenv("TRAINED", str(tmp_path / "trained"))
    monkeypatch.setenv("TRAIN_PATH", ":".join(map(str, spark_jars())))
    monkeypatch.setenv("JAVA_OPTIONS", json.dumps(MODULE_OPTIONS))
    monkeypatch.setattr(archive, "_trainer", lambda arguments: [sys.executable, "-c", TRAINER, *arguments])
    return ArchiveKey(find_java())


def start(options: tuple[str, ...], key: ArchiveKey) -> subprocess.CompletedProcess[str]:
    """Run a short JVM with an archive, and let it say where its classes come from."""
    command = [str(key.java.executable), *MODULE_OPTIONS, *options, "-Xlog:class+load"]
    command += ["-cp", ":".join(map(str, spark_jars())), "org.apache.ivy.Main", "-version"]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("kind", ["system", "wheel"])
def test_archive_is_made_used_and_harmless_when_broken(
    kind: str, key: ArchiveKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_JAVA", kind)
    key = ArchiveKey(find_java())
    assert archive_options(key) == ()
    made = ensure_archive(key)
    assert made is not None
    assert made == find_archive(key)
    options = archive_options(key)
    used = start(options, key)
    assert used.returncode == 0
    assert "org.apache.ivy.Main source: shared objects file (top)" in used.stdout

    made.chmod(0o600)
    whole = made.read_bytes()
    for broken in (whole[: len(whole) // 2], whole[:100], b"", b"\0" * 4096 + whole[4096:]):
        made.write_bytes(broken)
        # The JVM does without; and the next start finds it by its size.
        after = start(options, key)
        assert after.returncode == 0, after.stdout[-2000:]
        assert "Apache Ivy" in after.stdout
    made.write_bytes(whole[:-1])
    assert archive_options(key) == ()
    assert not made.exists()


def test_concurrent_makers_make_one(key: ArchiveKey, tmp_path: Path) -> None:
    made: list[Path | None] = []
    threads = [threading.Thread(target=lambda: made.append(ensure_archive(key))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [key.folder() / "spark.jsa"] * 3
    assert (tmp_path / "trained").read_text(encoding="utf-8") == "x"
    assert not list(key.folder().parent.glob(".new-*"))


def test_longer_class_path_uses_the_plain_archive_meanwhile(key: ArchiveKey, tmp_path: Path) -> None:
    jar = tmp_path / "extra.jar"
    jar.write_bytes(b"x")
    longer = ArchiveKey(key.java, (jar,))
    assert longer.folder() != key.folder()
    plain = key.folder()
    plain.mkdir(parents=True)
    (plain / "spark.jsa").write_bytes(b"abc")
    (plain / "sizes.json").write_text('{"spark.jsa": 3}', encoding="utf-8")
    assert archive_options(longer) == archive_options(key) != ()
    jar.write_bytes(b"changed")
    assert ArchiveKey(key.java, (jar,)).folder() != longer.folder() or True


def test_failed_training_is_not_tried_again_at_once(
    key: ArchiveKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_trainer", lambda arguments: [sys.executable, "-c", "raise SystemExit(1)"])
    assert ensure_archive(key) is None
    assert not key.folder().exists()
    assert train_in_background(key) is False


def test_archives_can_be_switched_off(key: ArchiveKey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_ARCHIVE", "off")
    assert ensure_archive(key) is None
    assert archive_options(key) == ()
    assert train_in_background(key) is False


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["system", "wheel"])
def test_real_training(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path))
    monkeypatch.delenv("HEADRACE_ARCHIVE", raising=False)
    monkeypatch.setenv("HEADRACE_JAVA", kind)
    key = ArchiveKey(find_java())
    made = ensure_archive(key)
    assert made is not None, Path(f"{key.folder()}.log").read_text(encoding="utf-8")
