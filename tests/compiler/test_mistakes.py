"""The mistakes that everybody makes: each is one precise finding, with its place, its frame and what to do.

A folder of `mistakes/` is laid over `_base`, a project without findings. Its `args` holds further
arguments of the command, its `delete` names files of the base to leave out. `expected.txt` is what
`headrace compile` says.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runtime.cli import group

MISTAKES = Path(__file__).parent / "mistakes"
CASES = sorted(folder for folder in MISTAKES.iterdir() if folder.name != "_base")
NOT_FILES = ("args", "delete", "expected.txt")


def compile_case(case: Path, tmp_path: Path) -> Result:
    """Compiles the base with a case over it."""
    root = tmp_path / "shop"
    shutil.copytree(MISTAKES / "_base", root)
    shutil.copytree(case, root, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*NOT_FILES))
    if (case / "delete").exists():
        for name in (case / "delete").read_text().split():
            (root / name).unlink()
    args = (case / "args").read_text().split() if (case / "args").exists() else []
    return CliRunner().invoke(group, ["compile", "--project-dir", str(root), *args])


def test_the_base_has_no_findings(tmp_path: Path) -> None:
    result = compile_case(MISTAKES / "_base", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mistake(case: Path, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    result = compile_case(case, tmp_path)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert len(re.findall(r"^error", result.stderr, re.MULTILINE)) == (2 if case.name == "two_files" else 1)
    assert re.search(r"^ *--> \S+:\d+:\d+$", result.stderr, re.MULTILINE)
    assert re.search(r"^ +\| .*\^", result.stderr, re.MULTILINE)
    assert "help: " in result.stderr
    golden(case / "expected.txt", result.stderr)


def test_the_cycle_is_told_whole_with_its_files() -> None:
    text = (MISTAKES / "cycle/expected.txt").read_text()
    for name, file in (("large", "large.sql"), ("checked", "checked.yml"), ("priced", "priced.sql")):
        assert name in text
        assert f"models/{file}:" in text


def test_the_fortieth_line() -> None:
    assert "models/steps.sql:40:" in (MISTAKES / "fortieth_line/expected.txt").read_text()
