"""Parts of Python programs."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable

WIDTH = 96
_ENVIRONMENT = re.compile(r"\$\{env:([A-Za-z_]\w*)\}")


def string(text: str) -> str:
    """A string literal, of several lines if it is long; what `${env:NAME}` refers to is read in the run."""
    if _ENVIRONMENT.search(text) is None:
        return "\n".join(map(_quoted, _pieces(text)))
    parts = _ENVIRONMENT.split(text)
    values = [f'os.environ["{part}"]' if i % 2 else _quoted(part) for i, part in enumerate(parts)]
    return " + ".join(value for value in values if value != '""')


def _pieces(text: str) -> list[str]:
    """A text in lines that end behind a space."""
    found = [""]
    for word in re.split(r"(?<= )", text):
        if found[-1] and len(found[-1]) + len(word) > WIDTH - 16:
            found.append("")
        found[-1] += word
    return found


def _quoted(text: str) -> str:
    # JSON's escapes are Python's.
    return json.dumps(text, ensure_ascii=False)


def call(function: str, arguments: Iterable[str]) -> str:
    """A call, on one line if it fits, else an argument a line."""
    given = list(arguments)
    line = f"{function}({', '.join(given)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    lines = indented(",\n".join(given))
    return f"{function}(\n{lines},\n)"


def indented(text: str, by: int = 4) -> str:
    """Lines set in."""
    return "\n".join(" " * by + line if line else line for line in text.split("\n"))


def identifier(name: str) -> str:
    """A name of the user's as a variable."""
    found = re.sub(r"\W", "_", name)
    if not found or found[0].isdigit():
        found = f"_{found}"
    return f"{found}_" if keyword.iskeyword(found) or found in _TAKEN else found


# What the program itself uses.
_TAKEN = frozenset(
    "F os sys Path DataFrame SparkSession StructType spark session batch epoch write main PROJECT STATE "
    "DELAY with_event_times write_files write_delta location as_columns event_time".split()
)


def sql_string(text: str) -> str:
    """A string in Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
