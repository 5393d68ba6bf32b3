"""HR113: double quotes make a string, and a column has the name that it says."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from typing import Final

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.syntax.fragment import Fragment

_TOKEN: Final = re.compile(
    r"--[^\n]*|/\*[\s\S]*?\*/|'(?:[^'\\]++|\\[\s\S]|'')*+'|`(?:[^`]++|``)*+`|\"(?P<name>[^\"\\\n]+)\"(?!\")"
    r"|\"(?:[^\"\\]++|\\[\s\S]|\"\")*+\""
)


def quoted_columns(part: object, names: Collection[str]) -> Iterator[Diagnostic]:
    """The findings for all expressions of a part of a declaration.

    Args:
        part: a fragment, or what holds some.
        names: columns that its expressions can see.
    """
    known = {name.lower(): name for name in names}
    for fragment in _fragments(part):
        if '"' not in fragment.text:
            continue
        for match in _TOKEN.finditer(fragment.text):
            column = known.get((match["name"] or "").lower())
            if column is None:
                continue
            yield Diagnostic(
                codes.QUOTED_COLUMN,
                f'"{match["name"]}" is a text here, and there is a column of that name',
                fragment.span(match.start(), match.end()),
                cause="in an expression double quotes make a string, as in Spark; names stand in backquotes",
                fix=f"write `{column}` for the column, '{match['name']}' for the text",
            )


def _fragments(part: object) -> Iterator[Fragment]:
    if isinstance(part, Fragment):
        yield part
    elif isinstance(part, (tuple, list)):
        for inner in part:
            yield from _fragments(inner)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _fragments(getattr(part, field.name))
