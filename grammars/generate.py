"""Writes the parser of statements from its grammar: `make grammar`.

The generated module stands alone, since importing lark costs more time than parsing a project. lark's tables
differ from run to run, so the file names the grammar's hash, and a test compares that.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib import resources
from pathlib import Path

TARGET = Path(__file__).parent.parent / "compiler" / "syntax" / "statements_parser.py"

HEADER = '''\
# ruff: noqa
# mypy: ignore-errors
# pyright: basic, reportAny=false
# fmt: off
"""Generated from grammars/statements.lark, do not edit: run `make grammar` (`python -m grammars.generate`).

grammar: {digest}
"""
'''


def grammar_digest() -> str:
    """The sha256 of the grammar's text."""
    text = resources.files("grammars").joinpath("statements.lark").read_bytes()
    return hashlib.sha256(text).hexdigest()


def generate() -> str:
    """The text of the generated module."""
    grammar = Path(__file__).parent / "statements.lark"
    command = [sys.executable, "-m", "lark.tools.standalone", str(grammar)]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    body = "\n".join(line.rstrip() for line in made.splitlines()) + "\n"
    return HEADER.format(digest=grammar_digest()) + body


if __name__ == "__main__":
    TARGET.write_text(generate(), encoding="utf-8")
