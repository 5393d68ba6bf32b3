"""The forms of findings on the command line, and how warnings are silenced and raised there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shop import Invoke, Write

WRONG = {"models/big.sql": "SELECT id, prise, ts\nFROM orders\n"}
UNUSED = {"models/unused.sql": "SELECT id FROM orders\n"}


def test_the_document_has_stdout_for_itself(invoke: Invoke, write: Write) -> None:
    folder = write(UNUSED)
    result = invoke("compile", "--project-dir", folder, "--output", "json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert [entry["code"] for entry in document["diagnostics"]] == ["HR219"]
    assert document["project"] == str(folder)
    assert "compiled shop" in result.stderr


@pytest.mark.parametrize("form", ["json", "sarif", "gitlab"])
def test_a_project_without_findings_gives_a_document_too(invoke: Invoke, shop: Path, form: str) -> None:
    document = json.loads(invoke("compile", "--output", form).stdout)
    if form == "json":
        assert (document["errors"], document["warnings"]) == (0, 0)
    assert document == [] or form != "gitlab"


@pytest.mark.parametrize("command", ["compile", "run", "list", "explain"])
def test_annotations_have_paths_from_here(
    invoke: Invoke, write: Write, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(WRONG)
    monkeypatch.chdir(folder.parent)
    result = invoke(command, "--project-dir", folder, "--output", "github")
    assert result.exit_code == 2
    assert result.stdout.startswith("::error file=shop/models/big.sql,line=1,col=12,endLine=1,endColumn=16,")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == ""


def test_a_selection_of_nothing_is_in_the_document(invoke: Invoke, shop: Path) -> None:
    result = invoke("compile", "-s", "cuonts", "--output", "json")
    assert result.exit_code == 2
    document = json.loads(result.stdout)
    assert [(e["code"], e["place"]["file"]) for e in document["diagnostics"]] == [("HR216", "--select")]


def test_no_project_is_in_the_document(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("compile", "--output", "json")
    assert result.exit_code == 2
    assert [(e["code"], e["place"]) for e in json.loads(result.stdout)["diagnostics"]] == [("HR607", None)]


def test_events_and_a_document_do_not_mix(invoke: Invoke, shop: Path) -> None:
    result = invoke("compile", "--output", "sarif", "--log-format", "json")
    assert json.loads(result.stdout)["version"] == "2.1.0"
    assert [json.loads(line)["event"] for line in result.stderr.splitlines()] == ["compiled"]


def test_warnings_become_errors(invoke: Invoke, write: Write) -> None:
    folder = write(UNUSED)
    for option in ("--warn-as-error", "--warn-as-error=HR219", "--warn-as-error=hr310,HR219"):
        result = invoke("compile", "--project-dir", folder, option)
        assert result.exit_code == 2, option
        assert "error[HR219]" in result.stderr
    assert invoke("compile", "--project-dir", folder, "--warn-as-error=HR310").exit_code == 0
    result = invoke("list", "--project-dir", folder, "--warn-as-error=HR2190")
    assert "unknown code `HR2190`\n --> --warn-as-error:1:1" in result.stderr
    assert "did you mean `HR219`?" in result.stderr


def test_what_is_silenced_is_not_raised(invoke: Invoke, write: Write) -> None:
    folder = write({"models/unused.sql": "-- headrace: allow HR219\nSELECT id FROM orders\n"})
    result = invoke("compile", "--project-dir", folder, "--warn-as-error")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""


def test_a_secret_of_a_line_is_not_shown(invoke: Invoke, write: Write) -> None:
    text = "CREATE SOURCE s (a INT) WITH (connector = 'filesystem', 'password' = 'hunter2', formt = 'csv');\n"
    folder = write({"sources/s.sql": text})
    for form in ("text", "json", "sarif", "github", "gitlab"):
        result = invoke("compile", "--project-dir", folder, "--output", form)
        assert "formt" in result.output
        assert "hunter2" not in result.output, form
