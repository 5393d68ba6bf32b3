"""Findings for machines: the outputs of a project with findings of all kinds, and what each promises."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest

from compiler.compile import compile_project
from compiler.diagnostics.codes import CODES, UNKNOWN_COLUMN, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.outputs import OUTPUTS
from compiler.diagnostics.outputs.report import Report, fingerprints
from compiler.diagnostics.secrets import without_secrets
from compiler.diagnostics.source import SourceFile, Span, whole_file
from compiler.project.load import load_project

DATA = Path(__file__).parent / "data/outputs"
ROOT = "/builds/pipelines/shop"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The findings of a project of several files, as if it lay under /builds/pipelines."""
    root = tmp_path_factory.mktemp("outputs") / "shop"
    shutil.copytree(DATA / "project", root)
    reporter = Reporter()
    project = load_project(root, target=None, variables={}, reporter=reporter, environment={})
    assert project is not None
    diagnostics = list(compile_project(project, reporter).diagnostics)
    diagnostics.append(
        Diagnostic(WRONG_VALUE, "`nwo` is no trigger", whole_file(SourceFile("--trigger", "nwo")))
    )
    diagnostics.append(Diagnostic(CODES["HR601"], "no usable Java: 100% of 2 tried", fix="install one"))
    return Report(diagnostics, ROOT, "/builds/pipelines", dict(project.config.variables))


@pytest.mark.parametrize("form", OUTPUTS)
def test_golden(form: str, found: Report, golden: Callable[[Path, str], None]) -> None:
    text = OUTPUTS[form](found)
    if form == "sarif":
        # The rules are the catalogue's; what they say is tested with the pages.
        log = json.loads(text)
        run = log["runs"][0]
        run["tool"]["driver"]["rules"] = run["tool"]["driver"]["rules"][:1]
        for result in run["results"]:
            del result["ruleIndex"]
        text = json.dumps(log, indent=2) + "\n"
    golden(DATA / f"{form}.txt", text)


def test_json_has_every_field_and_its_offsets_mark_the_text(found: Report) -> None:
    document = json.loads(OUTPUTS["json"](found))
    assert document["version"] == 1
    assert document["errors"] + document["warnings"] == len(found.diagnostics) == len(document["diagnostics"])
    for entry, diagnostic in zip(document["diagnostics"], found.diagnostics, strict=True):
        assert entry["code"] == diagnostic.code.name
        assert entry["docs"] == f"docs/diagnostics/{entry['code']}.md"
        if diagnostic.span is None:
            assert entry["place"] is None
            continue
        start, end = entry["place"]["start"], entry["place"]["end"]
        text = diagnostic.span.file.text
        assert text[start["offset"] : end["offset"]] == diagnostic.span.text
        line = text.split("\n")[start["line"] - 1]
        assert line[start["column"] - 1 :].startswith(diagnostic.span.text.split("\n")[0])


def test_a_variable_is_shown_with_what_stood_for_it(found: Report) -> None:
    document = json.loads(OUTPUTS["json"](found))
    expansions = [e for entry in document["diagnostics"] for e in entry["expansions"]]
    assert [(e["reference"], e["text"]) for e in expansions] == [("${least}", "five")]
    file = SourceFile("x.sql", "a $${x} ${x} ${api_token} ${none} ${env:X}")
    report = Report([], variables={"x": "1", "api_token": "hunter2"})
    assert [(s.start, t) for s, t in report.expansions(Span(file, 3, len(file.text)))] == [(8, "1")]


def test_every_annotation_is_one_line_that_github_reads(found: Report) -> None:
    lines = OUTPUTS["github"](found).splitlines()
    assert len(lines) == len(found.diagnostics)
    for line in lines:
        match = re.fullmatch(r"::(error|warning) ((?:\w+=[^,:]*)(?:,\w+=[^,:]*)*)::(.+)", line)
        assert match is not None, line
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        assert properties.keys() <= {"file", "line", "col", "endLine", "endColumn", "title"}
        assert ("file" in properties) == ("line" in properties)
    assert "100%25 of 2 tried%0Ahelp: install one" in lines[-1]


def test_fingerprints_stay_when_lines_are_added_above() -> None:
    def marks(text: str) -> list[str]:
        file = SourceFile("m.sql", text)
        spans = [Span(file, m.start(), m.end()) for m in re.finditer("prise", text)]
        return fingerprints(Report([Diagnostic(UNKNOWN_COLUMN, "unknown", span) for span in spans]))

    before = marks("SELECT prise, prise FROM t")
    assert len(set(before)) == 2
    assert marks("-- more\n\nSELECT prise, prise FROM t") == before


def test_no_file_is_needed_and_no_finding() -> None:
    for form, write in OUTPUTS.items():
        text = write(Report([]))
        assert text == "" if form == "github" else json.loads(text) is not None


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("'password' = 'hunter2', path = 'x'", "'password' = '*******', path = 'x'"),
        ("  s3a.secret.key: hunter2", "  s3a.secret.key: *******"),
        ('sasl_password = "a\\"b" -- c', 'sasl_password = "****" -- c'),
        ("password: ${env:PASSWORD}", "password: ${env:PASSWORD}"),
        ("'password' = 'open", "'password' = '****"),
        ("SELECT secret, token FROM t", "SELECT secret, token FROM t"),
        ("url = 'jdbc:oracle:thin:scott/tiger@//db/x'", "url = 'jdbc:oracle:thin:scott/*****@//db/x'"),
    ],
)
def test_secrets_are_not_shown(line: str, shown: str) -> None:
    assert without_secrets(line) == shown
    assert len(shown) == len(line)


# What SARIF 2.1.0 says of the parts that are used: members that it does not know fail, as do other types.


class _Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A SARIF object."""


Positive = Annotated[int, msgspec.Meta(ge=1)]
Level = Literal["none", "note", "warning", "error"]


class _Message(_Strict):
    text: Annotated[str, msgspec.Meta(min_length=1)]


class _Artifact(_Strict):
    uri: str
    uri_base_id: str | None = None


class _Region(_Strict):
    start_line: Positive
    start_column: Positive
    end_line: Positive
    end_column: Positive
    char_offset: int
    char_length: int
    snippet: _Message


class _Physical(_Strict):
    artifact_location: _Artifact
    region: _Region


class _Location(_Strict):
    physical_location: _Physical
    id: int | None = None
    message: _Message | None = None


class _Result(_Strict):
    rule_id: str
    rule_index: int
    level: Level
    message: _Message
    partial_fingerprints: dict[str, str]
    locations: list[_Location] = []
    related_locations: list[_Location] = []


class _Configuration(_Strict):
    level: Level


class _Rule(_Strict):
    id: str
    name: str
    short_description: _Message
    full_description: _Message
    help: _Message
    default_configuration: _Configuration


class _Driver(_Strict):
    name: str
    version: str
    semantic_version: str
    rules: list[_Rule]


class _Tool(_Strict):
    driver: _Driver


class _Run(_Strict):
    tool: _Tool
    column_kind: Literal["utf16CodeUnits", "unicodeCodePoints"]
    results: list[_Result]
    original_uri_base_ids: dict[str, _Artifact] = {}


class _Log(_Strict):
    version: Literal["2.1.0"]
    runs: list[_Run]
    schema: str = msgspec.field(name="$schema")


def test_sarif_is_valid_and_its_rules_are_the_catalogue(found: Report) -> None:
    run = msgspec.json.decode(OUTPUTS["sarif"](found), type=_Log).runs[0]
    rules = run.tool.driver.rules
    assert [rule.id for rule in rules] == sorted(CODES)
    for rule in rules:
        assert len(rule.help.text) > 80, rule.id
        assert rule.default_configuration.level == CODES[rule.id].severity.value
    assert len(run.results) == len(found.diagnostics)
    for result, diagnostic in zip(run.results, found.diagnostics, strict=True):
        assert rules[result.rule_index].id == result.rule_id == diagnostic.code.name
        for location in result.locations:
            assert not location.physical_location.artifact_location.uri.startswith("/")
            assert location.physical_location.artifact_location.uri_base_id in run.original_uri_base_ids
    assert all(base.uri.endswith("/") for base in run.original_uri_base_ids.values())


def test_sarif_of_files_elsewhere() -> None:
    file = SourceFile("models/a b.sql", "SELECT x")
    diagnostic = Diagnostic(UNKNOWN_COLUMN, "unknown", Span(file, 7, 8))

    def uri(report: Report) -> str:
        log = msgspec.json.decode(OUTPUTS["sarif"](report), type=_Log)
        return log.runs[0].results[0].locations[0].physical_location.artifact_location.uri

    assert uri(Report([diagnostic], "/a/b", "/a/b")) == "models/a%20b.sql"
    assert uri(Report([diagnostic], "/a/b", "/c")) == "file:///a/b/models/a%20b.sql"
