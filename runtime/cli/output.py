"""What commands print: text for people, or one JSON object a line for machines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from compiler.diagnostics.diagnostic import Diagnostic

_STYLES = {"good": "32", "bad": "31", "warn": "33", "dim": "2", "strong": "1"}


class Output:
    """Text goes to stdout and diagnostics to stderr; as JSON, everything goes to stdout.

    So a machine that reads one stream has the whole story in order, and a person may pipe either.

    Args:
        as_json: whether each message is a JSON object.
        color: False turns colours off wherever they would be used.
    """

    def __init__(self, *, as_json: bool = False, color: bool = True) -> None:
        self.as_json = as_json
        allowed = color and not os.environ.get("NO_COLOR") and not as_json
        self.color = allowed and sys.stdout.isatty()
        self._color_of_errors = allowed and sys.stderr.isatty()

    def text(self, line: str = "") -> None:
        """A line for people."""
        if not self.as_json:
            # click strips colours where a terminal is missing, and knows Windows.
            click.echo(line, color=self.color)

    def event(self, event: str, /, **fields: object) -> None:
        """An object for machines. Its first keys are the same for every event."""
        if self.as_json:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            click.echo(json.dumps({"time": now, "event": event, **fields}, ensure_ascii=False, default=str))
            sys.stdout.flush()

    def both(self, line: str, event: str, /, **fields: object) -> None:
        """A line for people, or an object with the same text."""
        self.text(line)
        self.event(event, message=line.strip(), **fields)

    def diagnostics(self, found: Sequence[Diagnostic]) -> None:
        """Findings with their frames and, at the end, how many there are."""
        if not found:
            return
        from compiler.diagnostics import render

        # Two queries that read one source find the same fault.
        found = list(dict.fromkeys(found))
        if self.as_json:
            for diagnostic in found:
                self.event("diagnostic", **render.to_dict(diagnostic))
        else:
            click.echo(
                render.render_all(found, color=self._color_of_errors),
                nl=False,
                err=True,
                color=self._color_of_errors,
            )

    def paint(self, style: str, text: str) -> str:
        """The text in a style, if colours are wanted."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and text else text


def counted(number: int, word: str, plural: str | None = None) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"
