"""What is wrong is told with its code and place, all of it at once, with exit code 2 and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from shop import SHOP, Invoke, Write

from compiler.jobplan.codec import to_json
from compiler.jobplan.model import Manifest

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Wrong:
    """A project with mistakes, and what must be told: `code file:line:column`."""

    name: str
    told: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


def _config(extra: str) -> dict[str, str]:
    return {"headrace.yml": f"name: shop\nvars: {{min_price: 5}}\n{extra}"}


def _big(sql: str) -> dict[str, str]:
    return {"models/big.sql": sql}


CASES = (
    Wrong("unknown_key", ("HR103 headrace.yml:3:1",), _config("tragets: {}\n")),
    Wrong("wrong_type", ("HR104 headrace.yml:4:22",), _config("targets:\n  dev: {parallelism: [2]}\n")),
    Wrong("bad_yaml", ("HR102 models/more.yml:2:12",), {"models/more.yml": "models:\n  - name: [a\n"}),
    Wrong("bad_sql", ("HR101 models/big.sql:1:13",), _big("SELECT FROM WHERE orders")),
    Wrong("unknown_column", ("HR201 models/big.sql:1:8",), _big("SELECT prise, ts FROM orders")),
    Wrong("unknown_upstream", ("HR202 models/big.sql:1:20",), _big("SELECT id, ts FROM ordres")),
    Wrong("cycle", ("HR204 models/",), {**_big("SELECT * FROM c"), "models/c.sql": "SELECT * FROM big"}),
    Wrong("missing_variable", ("HR107 models/big.sql:1:28",), _big("SELECT * FROM orders WHERE ${max} < id")),
    Wrong(
        "missing_environment",
        ("HR604 headrace.yml:4:16",),
        _config("targets:\n  dev: {state: '${env:HR_NOT_SET}'}\n"),
    ),
    Wrong("unknown_target", ("HR215 -",), {}, ("--target", "pord")),
    Wrong("bad_vars", ("HR102 --vars:1:13",), {}, ("--vars", "{min_price: 5")),
    Wrong("vars_no_mapping", ("HR104 --vars:1:1",), {}, ("--vars", "min_price:5")),
    Wrong("vars_of_the_wrong_kind", ("HR104 --vars:1:15",), {}, ("--vars", '{"min_price": [5]}')),
    Wrong("vars_empty", ("HR104 -",), {}, ("--vars", "")),
    Wrong("selects_nothing", ("HR216 --select:1:1",), {}, ("--select", "nothing")),
    Wrong("bad_trigger", ("HR104 --trigger:1:1",), {}, ("--trigger", "5 parsecs")),
    Wrong(
        "several_at_once",
        (
            "HR103 headrace.yml:3:1",
            "HR201 models/big.sql:1:8",
            "HR101 models/third.sql:1",
            "HR211 sinks/more.sql:1:36",
        ),
        {
            **_config("zone: UTC\n"),
            **_big("SELECT prise, ts FROM orders"),
            "models/third.sql": "SELECT * FORM orders",
            "sinks/more.sql": "CREATE SINK more WITH (connector = 'filesistem', path = 'x') "
            "AS SELECT * FROM orders;",
        },
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_project(
    case: Wrong, invoke: Invoke, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = write(case.files)
    result = invoke("run", "--project-dir", folder, *case.arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    for told in case.told:
        code, place = told.split(" ", 1)
        assert f"error[{code}]" in result.stderr
        assert place == "-" or f"--> {place}" in result.stderr
    assert result.stderr.rstrip().splitlines()[-1].split()[1].startswith("error")
    assert not (folder / ".headrace").exists()
    assert not (folder / "out").exists()


def test_no_project(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("run")
    assert result.exit_code == 2
    assert "error[HR607]: no project here" in result.stderr
    assert "headrace init" in result.stderr
    assert "error[HR607]" in invoke("compile", "--project-dir", tmp_path / "nowhere").stderr


def test_no_script(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("run", tmp_path / "none.sql")
    assert result.exit_code == 2
    assert "error[HR605]" in result.stderr
    assert invoke("run", tmp_path).exit_code == 2


# --- the environment: found before a JVM is started, or while it starts -------------------------------------


@pytest.fixture
def data(shop: Path) -> Path:
    (shop / "data").mkdir()
    return shop


def test_missing_data(shop: Path) -> None:
    # Sources are looked at while the JVM starts, so in a process of its own: this one may have a session.
    command = [sys.executable, "-m", "runtime.cli", "run", "--select", "all_big"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 2, result.stderr
    assert "error[HR605]: path 'data' of source orders does not exist" in result.stderr
    assert not (shop / "out").exists()


def test_too_old_java(invoke: Invoke, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "java8"
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").write_text("#!/bin/sh\nexit 1\n")
    (home / "bin/java").chmod(0o755)
    (home / "release").write_text('JAVA_VERSION="1.8.0_292"\n')
    monkeypatch.setenv("HEADRACE_JAVA", "system")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path))
    result = invoke("run")
    assert result.exit_code == 2
    assert "error[HR601]: no usable Java was found" in result.stderr
    assert "Java 8" in result.stderr


def test_state_root_in_the_way(invoke: Invoke, data: Path) -> None:
    (data / ".headrace").write_text("a file")
    result = invoke("run")
    assert result.exit_code == 2
    assert "error[HR606]: state root" in result.stderr


def test_state_of_another_project(invoke: Invoke, data: Path) -> None:
    (data / ".headrace/state").mkdir(parents=True)
    (data / ".headrace/state/manifest.json").write_text(to_json(Manifest(1, "store")))
    result = invoke("run")
    assert result.exit_code == 2
    assert "error[HR502]" in result.stderr
    assert "--> headrace.yml:4:8" in result.stderr


def test_state_is_locked(invoke: Invoke, data: Path) -> None:
    from runtime.state.root import StateRoot

    with StateRoot(data / ".headrace/state", "shop"):
        result = invoke("run")
    assert result.exit_code == 2
    assert "error[HR503]" in result.stderr


def test_missing_secret_of_an_option(invoke: Invoke, write: Write) -> None:
    source = SHOP["sources/orders.sql"].replace("'data'", "'${env:HR_NOT_SET}'")
    folder = write({"sources/orders.sql": source})
    result = invoke("run", "--project-dir", folder)
    assert result.exit_code == 2
    assert "error[HR604]" in result.stderr
    assert "HR_NOT_SET" in result.stderr


def test_several_faults_of_the_machine_at_once(
    invoke: Invoke, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_JAVA", "wrong")
    (shop / ".headrace").write_text("a file")
    result = invoke("run")
    assert result.exit_code == 2
    for code in ("HR601", "HR605", "HR606"):
        assert f"error[{code}]" in result.stderr
    assert result.stderr.endswith("3 errors\n")


def test_target_in_the_way(invoke: Invoke, data: Path) -> None:
    (data / "target").write_text("a file")
    result = invoke("run")
    assert result.exit_code == 2
    assert "error[HR606]" in result.stderr


# --- starting over is agreed to --------------------------------------------------------------------------


def test_full_refresh_asks_and_says_what_goes(invoke: Invoke, data: Path) -> None:
    (data / ".headrace/state/queries/counts/checkpoint").mkdir(parents=True)
    (data / "out/counts").mkdir(parents=True)
    result = invoke("run", "--full-refresh", "--select", "counts")
    assert result.exit_code == 2
    assert result.stdout == (
        "--full-refresh throws away:\n"
        "  state of query counts: .headrace/state/queries/counts\n"
        "  rows of sink counts: out/counts\n"
        "nothing was thrown away, nothing was run\n"
    )
    assert "say --yes" in result.stderr
    assert (data / "out/counts").exists()


def test_close_needs_an_end(invoke: Invoke, data: Path) -> None:
    result = invoke("run", "--target", "prod", "--on-end", "close")
    assert result.exit_code == 2
    assert "--trigger available_now" in result.stderr


def test_a_fault_of_our_own_is_one_line(invoke: Invoke, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("cellar\nat stack (frame)")

    monkeypatch.setattr("compiler.project.load.load_project", fail)
    result = invoke("compile")
    assert result.exit_code == 1
    log = shop / "target/logs/headrace.log"
    assert result.stderr == (
        "error: headrace itself failed: KeyError: 'cellar\\nat stack (frame)'\n"
        f"  the full trace is in {log}\n"
    )
    assert "Traceback (most recent call last)" in log.read_text()
