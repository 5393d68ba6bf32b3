"""What each code means, in a few sentences: the beginning of its page, carried with the package.

`catalogue.json` is generated from docs/diagnostics by `pytest tests/docs --update`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from compiler.diagnostics.codes import Code


@cache
def _explanations() -> dict[str, str]:
    text = files("compiler.diagnostics").joinpath("catalogue.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def explanation(code: Code) -> str:
    """The text of a code's page, its title if it has none."""
    return _explanations().get(code.name, code.title)
