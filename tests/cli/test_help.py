"""Help, version, and what start-up costs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from shop import Invoke, Write

import headrace
from runtime.cli import COMMANDS, group


def test_help_lists_every_command(invoke: Invoke) -> None:
    result = invoke("--help")
    assert result.exit_code == 0
    for name, line in COMMANDS:
        assert f"  {name}" in result.output
        assert line in result.output


@pytest.mark.parametrize("name", [name for name, _ in COMMANDS])
def test_every_command_has_help_that_starts_with_its_line(invoke: Invoke, name: str) -> None:
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: headrace {name}")
    command = group.commands.get(name) or group.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    assert command.short_help == dict(COMMANDS)[name]


def test_version(invoke: Invoke) -> None:
    assert invoke("--version").output == f"headrace {headrace.__version__}\n"


def test_unknown_command_suggests(invoke: Invoke) -> None:
    result = invoke("complie")
    assert result.exit_code == 2
    assert "Did you mean `compile`?" in result.output.replace("'", "`")


def test_unknown_option_is_wrong_use(invoke: Invoke) -> None:
    assert invoke("run", "--ful-refresh").exit_code == 2


def _imported_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.split(".")[0] for name in done.stderr.splitlines()}


_HEAVY = {"msgspec", "pyspark", "rich", "sqlglot", "yaml", "lark", "pandas", "filelock", "asyncio"}


def test_help_imports_only_click() -> None:
    code = "import runtime.cli as c\ntry:\n  c.group.main(['--help'])\nexcept SystemExit: pass"
    found = _imported_by(code)
    assert "click" in found
    assert not found & (_HEAVY | {"compiler"})


def test_public_api_is_imported_lazily() -> None:
    assert not _imported_by("import headrace") & _HEAVY


def test_all_of_the_public_api_is_there() -> None:
    for name in headrace.__all__:
        assert getattr(headrace, name) is not None
    assert sorted(headrace.__all__) == dir(headrace)


def test_compile_of_the_public_api(write: Write) -> None:
    pipeline = headrace.compile(write({}), target="prod", variables={"min_price": 7})
    assert pipeline.plan is not None
    assert [query.trigger_ms for query in pipeline.plan.queries] == [5000, 5000]
    wrong = headrace.compile(write({"models/big.sql": "SELECT nothing FROM orders"}))
    assert wrong.plan is None
    assert [headrace.render(d).splitlines()[1] for d in wrong.diagnostics] == [" --> models/big.sql:1:8"]


def test_run_of_the_public_api_refuses_mistakes(write: Write) -> None:
    with pytest.raises(headrace.DiagnosticError) as refused:
        headrace.run(write({"models/big.sql": "SELECT nothing FROM orders"}))
    assert [d.code.name for d in refused.value.diagnostics] == ["HR201"]
    with pytest.raises(headrace.DiagnosticError):
        headrace.run(write({}), select=["nothing"])
