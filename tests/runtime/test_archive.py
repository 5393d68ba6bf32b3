"""The class-data archive: made once, found by its key, harmless when broken."""

from __future__ import annotations

import json
import os
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


SESSION = """
import sys
from pathlib import Path
from runtime.spark import session as s
s.train_in_background = lambda key: False
spark = s.open_session(s.SessionSettings("a", Path(sys.argv[1]), master="local[1]", short_run=True))
print(spark.range(5).count())
s.close_session(spark)
"""

# A child with a session of its own stands in for the JVM.
PRIORITY = """
import os
import subprocess
from pathlib import Path
from runtime.spark.training import let_others_go_first, share_priority
let_others_go_first()
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
share_priority(child.pid)
print(os.getpriority(os.PRIO_PROCESS, child.pid))
for pid in (os.getpid(), child.pid):
    group = Path(f"/proc/{pid}/autogroup")
    print(group.read_text().split()[-1] if group.exists() else 19)
child.kill()
child.wait()
"""

ROOT = Path(__file__).resolve().parent.parent.parent


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

    # A JVM dies of a truncated archive, so its size is looked at first.
    made.chmod(0o600)
    made.write_bytes(made.read_bytes()[:-1])
    assert archive_options(key) == ()
    assert not made.exists()


def test_run_survives_damage_that_the_size_does_not_show(key: ArchiveKey, tmp_path: Path) -> None:
    made = ensure_archive(key)
    assert made is not None
    made.chmod(0o600)
    half = made.read_bytes()[: made.stat().st_size // 2]
    made.write_bytes(half)
    sizes = made.parent / "sizes.json"
    sizes.write_text(
        json.dumps(json.loads(sizes.read_text(encoding="utf-8")) | {"top": len(half)}), encoding="utf-8"
    )
    assert archive_options(key) != ()
    done = subprocess.run(
        [sys.executable, "-c", SESSION, str(tmp_path / "jvm.log")],
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "5"
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
    sizes = {"top": 3}
    if key.needs_base():
        key.base().write_bytes(b"base")
        sizes["base"] = 4
    (plain / "sizes.json").write_text(json.dumps(sizes), encoding="utf-8")
    assert archive_options(longer) == archive_options(key) != ()
    before = longer.folder()
    jar.write_bytes(b"changed")
    assert longer.folder() != before


def test_failed_training_is_not_tried_again_at_once(key: ArchiveKey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_trainer", lambda _: [sys.executable, "-c", "raise SystemExit(1)"])
    assert ensure_archive(key) is None
    assert not key.folder().exists()
    assert train_in_background(key) is False


def test_training_has_the_lowest_priority() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRIORITY],
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["19"] * 3, done.stderr


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
