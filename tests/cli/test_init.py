"""init."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shop import Invoke


def test_init_makes_a_project_without_findings(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("init", tmp_path / "My shop")
    assert result.exit_code == 0
    assert "headrace run" in result.stdout
    compiled = invoke("compile", "--project-dir", tmp_path / "My shop")
    assert compiled.exit_code == 0
    assert compiled.stderr == ""
    assert compiled.stdout.startswith("compiled My_shop for target dev: 1 query, 1 sink\n")
    ignored = (tmp_path / "My shop/.gitignore").read_text().split()
    assert {"target/", ".headrace/"} <= set(ignored)


def test_init_here_with_a_name(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("init", "--name", "demo").exit_code == 0
    assert "name: demo\n" in (tmp_path / "headrace.yml").read_text()


def test_init_never_overwrites(invoke: Invoke, tmp_path: Path) -> None:
    invoke("init", tmp_path)
    (tmp_path / "headrace.yml").write_text("mine")
    result = invoke("init", tmp_path)
    assert result.exit_code == 2
    assert "holds a project already" in result.stderr
    assert (tmp_path / "headrace.yml").read_text() == "mine"
    other = tmp_path / "other"
    other.mkdir()
    (other / ".gitignore").write_text("mine")
    assert invoke("init", other).exit_code == 2
    assert [entry.name for entry in other.iterdir()] == [".gitignore"]


def test_init_refuses_a_bad_name_and_a_bad_place(invoke: Invoke, tmp_path: Path) -> None:
    assert "error[HR104]" in invoke("init", tmp_path / "a", "--name", "1st").stderr
    (tmp_path / "file").write_text("")
    result = invoke("init", tmp_path / "file")
    assert result.exit_code == 2
    assert "error[HR606]" in result.stderr


def test_init_as_json(invoke: Invoke, tmp_path: Path) -> None:
    (event,) = invoke("init", tmp_path / "x", "--log-format", "json").stdout.splitlines()
    assert json.loads(event)["event"] == "made"
