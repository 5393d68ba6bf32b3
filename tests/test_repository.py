"""Rules of the repository that no other tool checks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Written by lark from grammars/.
GENERATED = {"compiler/syntax/statements_parser.py", "compiler/syntax/match_pattern_parser.py"}
LONGEST = 600
ORIGINAL_CASES = ROOT.parent / "shared" / "cases"


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # A file may be deleted and not yet staged.
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def test_no_source_file_is_too_long() -> None:
    lengths = {name: len(text_of(name).splitlines()) for name in tracked("*.py", "*.lark", "*.sql", "*.yml")}
    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST and name not in GENERATED} == {}


def test_no_file_names_a_folder_of_one_machine() -> None:
    # Written in two parts, or this file would be found.
    folder = re.compile(r"(?:^|[^\w.-])/(?:" + "|".join(["wor" + "k", "hom" + "e", "Use" + "rs"]) + r")/\w")
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in tracked()
        for number, line in enumerate(text_of(name).splitlines(), 1)
        if folder.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_locks_have_hashes_and_no_addresses(lock: str) -> None:
    text = text_of(lock)
    assert "://" not in text
    assert not re.search(r"index-url|find-links|trusted-host", text)
    pinned = re.findall(r"^([a-z][\w.-]*)==", text, re.MULTILINE)
    assert pinned
    without = [
        name for name in pinned if not re.search(rf"^{re.escape(name)}==.*\\\n +--hash", text, re.MULTILINE)
    ]
    assert without == []


def test_run_time_versions_are_the_same_in_both_locks() -> None:
    def versions(lock: str) -> set[str]:
        return set(re.findall(r"^([a-z][\w.-]*==[^\s\\]+)", text_of(lock), re.MULTILINE))

    assert versions("requirements.lock") - versions("requirements-dev.lock") == set()


def test_locks_have_what_the_project_asks_for() -> None:
    import tomllib

    project = tomllib.loads(text_of("pyproject.toml"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[\s\[<>=!~;]", want, maxsplit=1)[0].lower().replace("_", "-") for want in wanted}
    pinned = set(re.findall(r"^([a-z][\w.-]*)==", text_of("requirements-dev.lock"), re.MULTILINE))
    assert names - pinned == set()


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_readme_tells_the_commands(command: str) -> None:
    assert command in text_of("README.md")


def test_ci_calls_what_the_readme_tells() -> None:
    script = text_of(".ci/run")
    assert re.search(r"^make test$", script, re.MULTILINE)
    assert re.search(r"^make lint$", script, re.MULTILINE)
    assert "set -euo pipefail" in script


def test_every_target_of_make_is_explained() -> None:
    makefile = text_of("Makefile")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony is not None
    for target in phony.group(1).split():
        assert re.search(rf"^{target}:.*## \w", makefile, re.MULTILINE), target


def test_cases_are_those_of_the_specification() -> None:
    if not ORIGINAL_CASES.is_dir():
        pytest.skip("the cases' originals are not on this machine")
    for original in sorted(ORIGINAL_CASES.rglob("*")):
        if original.is_file():
            copy = ROOT / "tests" / "cases" / original.relative_to(ORIGINAL_CASES)
            assert copy.is_file(), f"{copy} is missing"
            assert copy.read_bytes() == original.read_bytes(), f"{copy} differs from its original"


def test_tests_that_pin_facts_are_there() -> None:
    """ARCHITECTURE.md says what Spark does and which test notices when that changes."""
    tables = text_of("compiler/ARCHITECTURE.md").partition("## What Spark would drop")[2]
    rows = [
        line.split(" | ") for line in tables.splitlines() if line.startswith("| ") and "`tests/`" not in line
    ]
    named = [name for cells in rows for name in re.findall(r"`([^`]+)`", cells[-1])]
    assert named
    missing, path = [], ""
    for name in named:
        if "/" in name or name.endswith(".py"):
            path = f"tests/{name}"
            found = (ROOT / path).exists()
        else:
            found = name in text_of(path)
        if not found:
            missing.append(f"{path}: {name}")
    assert missing == []
