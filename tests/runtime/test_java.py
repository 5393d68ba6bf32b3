"""Which Java is taken, and what is said about those that are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.spark.errors import EnvironmentProblem
from runtime.spark.java import find_java, major_of


def fake_java(home: Path, release: str | None, script: str = "#!/bin/sh\nexit 1\n") -> Path:
    """Lay a folder that looks like a JDK."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release, encoding="utf-8")
    return home


def test_java_home_goes_first(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "a", 'JAVA_VERSION="21.0.1"\nJAVA_RUNTIME_VERSION="21.0.1+12-LTS"\n')
    java = find_java({"JAVA_HOME": str(home), "PATH": os.environ["PATH"]})
    assert (java.home, java.major, java.version, java.kind) == (home, 21, "21.0.1+12-LTS", "system")
    assert java.notes == ()


def test_too_old_java_is_skipped_with_a_note(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", 'JAVA_VERSION="1.8.0_292"\n')
    good = fake_java(tmp_path / "good", 'JAVA_VERSION="17.0.9"\n')
    java = find_java({"JAVA_HOME": str(old), "PATH": str(good / "bin")})
    assert java.home == good
    assert java.notes == (f"JAVA_HOME ({old}) was skipped: it is Java 8 and Spark needs 17 or newer.",)


def test_link_on_path_leads_to_the_jdk(tmp_path: Path) -> None:
    good = fake_java(tmp_path / "jdk", 'JAVA_VERSION="17.0.9"\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(good / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == good


def test_java_without_release_file_is_asked(tmp_path: Path) -> None:
    said = "    java.home = /opt/jdk\n    java.runtime.version = 21.0.3+9\n"
    shim = fake_java(tmp_path / "shim", None, f"#!/bin/sh\ncat >&2 <<'END'\n{said}END\n")
    java = find_java({"JAVA_HOME": str(shim), "PATH": ""})
    assert (java.home, java.version) == (Path("/opt/jdk"), "21.0.3+9")


def test_broken_java_gives_way_to_the_wheel(tmp_path: Path) -> None:
    broken = fake_java(tmp_path / "broken", None)
    java = find_java({"JAVA_HOME": str(broken), "PATH": ""})
    assert java.kind == "wheel"
    assert java.executable.is_file()
    assert "does not run" in java.notes[0]


def test_no_usable_java_is_an_error(tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", 'JAVA_VERSION="11.0.2"\n')
    with pytest.raises(EnvironmentProblem) as caught:
        find_java({"JAVA_HOME": str(old), "PATH": "", "HEADRACE_JAVA": "system"})
    assert caught.value.code == "HR601"
    assert "it is Java 11" in caught.value.cause


def test_kind_can_be_forced(tmp_path: Path) -> None:
    good = fake_java(tmp_path / "good", 'JAVA_VERSION="17.0.9"\n')
    assert find_java({"JAVA_HOME": str(good), "HEADRACE_JAVA": "wheel"}).kind == "wheel"
    with pytest.raises(EnvironmentProblem, match="HR601"):
        find_java({"JAVA_HOME": str(good), "HEADRACE_JAVA": "other"})


@pytest.mark.parametrize(
    ("version", "major"),
    [("17.0.15+6-Debian", 17), ("1.8.0_292", 8), ("21", 21), ("25-ea+3", 25), ("x", None)],
)
def test_major(version: str, major: int | None) -> None:
    assert major_of(version) == major
