"""Every code has a page, and what the page shows is what the compiler says.

An example is the fenced blocks of a page whose info string names a file, laid over `_base`. The block of
text under `## Wrong` is the diagnostic: `pytest --update` writes it anew.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.compile import compile_project
from compiler.diagnostics import codes
from compiler.diagnostics.codes import CODES, Severity
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.render import render_all
from compiler.project.load import load_project

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs/diagnostics"
INDEX = ROOT / "docs/README.md"
CATALOGUE = ROOT / "compiler/diagnostics/catalogue.json"
AREAS = {
    1: "the text of a file",
    2: "names and types",
    3: "streaming",
    4: "delivery",
    5: "state",
    6: "environment",
}
BASE = Path(__file__).parent / "_base"

_PAGE = re.compile(
    r"# (?P<name>HR\d{3}): (?P<title>[^\n]+)\n\n(?P<text>.+?)\n"
    r"\n## Wrong\n(?P<wrong>.+?)\n## Right\n(?P<right>.+)",
    re.DOTALL,
)
_FENCE = re.compile(r"^```(?P<language>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_TEST = re.compile(r"Raised in `(?P<file>tests/\S+\.py)::(?P<test>\w+)`")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of `docs/diagnostics`; `shown` is the diagnostic on it."""

    name: str
    title: str
    text: str
    wrong: dict[str, str]
    right: dict[str, str]
    shown: str
    sessions: tuple[str, ...]
    raised_in: tuple[str, str] | None


def read_page(path: Path) -> Page:
    """Reads a page."""
    content = path.read_text(encoding="utf-8")
    match = _PAGE.fullmatch(content)
    assert match is not None, f"{path.name} is not laid out as the others are"
    test = _TEST.search(content)
    fences = list(_FENCE.finditer(content))
    return Page(
        name=match["name"],
        title=match["title"],
        text=match["text"],
        wrong=_files(match["wrong"]),
        right=_files(match["right"]),
        shown="".join(f["text"] for f in fences if f["language"] == "text"),
        sessions=tuple(f["text"] for f in fences if f["language"] == "console"),
        raised_in=(test["file"], test["test"]) if test else None,
    )


def _files(part: str) -> dict[str, str]:
    return {f["file"]: f["text"] for f in _FENCE.finditer(part) if f["file"] is not None}


def findings(files: dict[str, str], root: Path) -> tuple[Diagnostic, ...]:
    """What the compiler says to an example."""
    shutil.copytree(BASE, root)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # A page cannot hold the character NUL.
        path.write_text(text.replace("\\0", "\0"), encoding="utf-8")
    reporter = Reporter()
    project = load_project(root, target=None, variables={}, reporter=reporter, environment={})
    return compile_project(project, reporter).diagnostics if project is not None else reporter.all()


def of_code(found: Sequence[Diagnostic], page: Page, files: dict[str, str]) -> list[Diagnostic]:
    """The findings of the page's code in the example's own files; the base has warnings of its own."""
    own = [d for d in found if d.span is None or d.span.file.path in files]
    return [d for d in own if d.code.name == page.name]


PATHS = sorted(PAGES.glob("*.md"))
COMPILED = [path for path in PATHS if "```text\n" in path.read_text(encoding="utf-8")]
RUN = [path for path in PATHS if path not in COMPILED]


def _id(path: Path) -> str:
    return path.stem


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert [path.stem for path in PATHS] == sorted(CODES)


def test_index(golden: Callable[[Path, str], None]) -> None:
    content = INDEX.read_text(encoding="utf-8")
    head, *_ = content.partition("### ")
    parts = [head.rstrip()]
    for number, title in AREAS.items():
        listed = [code for code in CODES.values() if code.name.startswith(f"HR{number}")]
        lines = [
            f"- [{code.name}](diagnostics/{code.name}.md): {code.title}"
            + (" (warning)" if code.severity is Severity.WARNING else "")
            for code in listed
        ]
        parts.append(f"### HR{number}xx: {title}\n\n" + "\n".join(lines))
    golden(INDEX, "\n\n".join(parts) + "\n")


def test_catalogue(golden: Callable[[Path, str], None]) -> None:
    texts = {path.stem: re.sub(r"(?<!\n)\n(?!\n|[-*] )", " ", read_page(path).text.strip()) for path in PATHS}
    golden(CATALOGUE, json.dumps(texts, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("path", PATHS, ids=_id)
def test_page(path: Path) -> None:
    page = read_page(path)
    assert page.name == path.stem
    assert page.title == CODES[page.name].title
    assert 2 <= len(re.findall(r"[.!?:](?:\s|$)", page.text)) <= 8


@pytest.mark.parametrize("path", COMPILED, ids=_id)
def test_wrong_example(path: Path, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    page = read_page(path)
    found = findings(page.wrong, tmp_path / "wrong")
    errors = {d.code.name for d in found if d.is_error}
    expected = {page.name} if CODES[page.name].severity is Severity.ERROR else set()
    assert errors == expected, render_all(found)
    told = of_code(found, page, page.wrong)
    assert told, f"the wrong example is not found wrong: {render_all(found)}"
    content = path.read_text(encoding="utf-8")
    start = content.index("```text\n") + len("```text\n")
    end = content.index("```\n", start)
    golden(path, content[:start] + render_all(told) + content[end:])


@pytest.mark.parametrize("path", COMPILED, ids=_id)
def test_right_example(path: Path, tmp_path: Path) -> None:
    page = read_page(path)
    found = findings(page.right, tmp_path / "right")
    assert not [d for d in found if d.is_error], render_all(found)
    assert not of_code(found, page, page.right), render_all(found)


@pytest.mark.parametrize("path", RUN, ids=_id)
def test_page_of_a_finding_outside_of_the_compiler(path: Path) -> None:
    page = read_page(path)
    kind = CODES[page.name].severity.value
    assert f"{kind}[{page.name}]: " in page.sessions[0]
    assert page.name not in page.sessions[1]
    assert page.raised_in is not None, f"{path.name} names no test"
    file, test = page.raised_in
    text = (ROOT / file).read_text(encoding="utf-8")
    match = re.search(rf"^def {test}\(.*?(?=^def |\Z)", text, re.DOTALL | re.MULTILINE)
    assert match is not None, f"{file} has no test `{test}`"
    assert page.name in match.group(), f"`{test}` does not check for {page.name}"


def test_every_code_is_raised() -> None:
    used: set[str] = set()
    for file in (f for folder in ("compiler", "runtime") for f in (ROOT / folder).rglob("*.py")):
        if file.name == "codes.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
                    used.add(word)
    constants = {value.name: name for name, value in vars(codes).items() if isinstance(value, codes.Code)}
    assert constants.keys() == CODES.keys()
    assert [name for name, constant in constants.items() if not {name, constant} & used] == []
