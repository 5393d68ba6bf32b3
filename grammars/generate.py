"""Writes the parsers from their grammars: `make grammar`.

The generated modules stand alone, since importing lark costs more time than parsing a project; the first one
holds lark's runtime, the others only their tables. lark's tables differ from run to run, so a file names its
grammar's hash, and a test compares that.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

_HERE = Path(__file__).parent
_SYNTAX = _HERE.parent / "compiler" / "syntax"

HEADER = '''\
# ruff: noqa
# mypy: ignore-errors
# pyright: basic, reportAny=false
# fmt: off
"""Generated from grammars/{grammar}, do not edit: run `make grammar` (`python -m grammars.generate`).

grammar: {digest}
"""
'''

_TABLES = "DATA = ("


@dataclass(frozen=True, slots=True)
class Parser:
    """A grammar and the module that is made of it; `runtime` is the module whose runtime it uses."""

    grammar: str
    module: str
    runtime: str | None = None

    @property
    def target(self) -> Path:
        """The generated file."""
        return _SYNTAX / f"{self.module}.py"

    def digest(self) -> str:
        """The sha256 of the grammar's text."""
        text = resources.files("grammars").joinpath(self.grammar).read_bytes()
        return hashlib.sha256(text).hexdigest()

    def generate(self) -> str:
        """The text of the generated module."""
        command = [sys.executable, "-m", "lark.tools.standalone", str(_HERE / self.grammar)]
        made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        body = "\n".join(line.rstrip() for line in made.splitlines()) + "\n"
        if self.runtime is not None:
            body = f"from compiler.syntax.{self.runtime} import Lark\n\n{body[body.index(_TABLES) :]}"
        return HEADER.format(grammar=self.grammar, digest=self.digest()) + body


PARSERS = (
    Parser("statements.lark", "statements_parser"),
    Parser("match_pattern.lark", "match_pattern_parser", runtime="statements_parser"),
)


if __name__ == "__main__":
    for parser in PARSERS:
        if not parser.target.exists() or parser.digest() not in parser.target.read_text(encoding="utf-8"):
            parser.target.write_text(parser.generate(), encoding="utf-8")
