"""What commands print: text for people, or one JSON object a line for machines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from compiler.diagnostics.diagnostic import Diagnostic

FINDINGS: Final = ("text", "json", "sarif", "github", "gitlab")
# One document of all findings, which is written when the command ends; the others are written as they come.
_DOCUMENTS: Final = ("json", "sarif", "gitlab")
_STYLES = {"good": "32", "bad": "31", "warn": "33", "dim": "2", "strong": "1"}


class Output:
    """Text goes to stdout and diagnostics to stderr; as JSON, everything goes to stdout.

    So a machine that reads one stream has the whole story in order, and a person may pipe either. Where the
    findings are one document, it has stdout for itself, and all other text goes to stderr.

    Args:
        as_json: whether each message is a JSON object.
        color: False turns colours off wherever they would be used.
        findings: the form of findings, one of FINDINGS.
    """

    def __init__(self, *, as_json: bool = False, color: bool = True, findings: str = "text") -> None:
        self.as_json = as_json
        self.findings = findings
        allowed = color and not os.environ.get("NO_COLOR") and not as_json
        self._color_of_errors = allowed and sys.stderr.isatty()
        self.color = allowed and sys.stdout.isatty() and not self.is_document
        self._found: list[Diagnostic] = []
        self._root = ""
        self._variables: Mapping[str, str] = {}

    @property
    def is_document(self) -> bool:
        """Whether the findings are one document on stdout."""
        return self.findings in _DOCUMENTS

    def findings_as(self, form: str) -> None:
        """Sets the form of findings for a command whose result is text or JSON and goes to stdout.

        Args:
            form: of these `text`, `json` and those that no findings have are of the result; then findings are
                text.
        """
        self.findings = form if form in FINDINGS and form not in ("text", "json") else "text"

    def of_project(self, root: str, variables: Mapping[str, str]) -> None:
        """Says what the findings are about, so that their files are found from here.

        Args:
            root: the project's folder, absolute.
            variables: the project's variables.
        """
        self._root, self._variables = root, variables

    def text(self, line: str = "") -> None:
        """A line for people."""
        if not self.as_json:
            # click strips colours where a terminal is missing, and knows Windows.
            click.echo(line, color=self.color, err=self.is_document)

    def event(self, event: str, /, **fields: object) -> None:
        """An object for machines. Its first keys are the same for every event."""
        if self.as_json:
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            text = json.dumps({"time": now, "event": event, **fields}, ensure_ascii=False, default=str)
            click.echo(text, err=self.is_document)
            sys.stdout.flush()

    def both(self, line: str, event: str, /, **fields: object) -> None:
        """A line for people, or an object with the same text."""
        self.text(line)
        self.event(event, message=line.strip(), **fields)

    def diagnostics(self, found: Sequence[Diagnostic]) -> None:
        """Findings with their frames and how many there are, or in the form that was asked for."""
        if not found:
            return
        if self.findings != "text":
            self._found += found
            if not self.is_document:
                self.finish()
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

    def finish(self) -> None:
        """Writes what findings are left to write: the command is over."""
        if self.findings == "text":
            return
        from compiler.diagnostics.outputs import OUTPUTS
        from compiler.diagnostics.outputs.report import Report

        found, self._found = list(dict.fromkeys(self._found)), []
        report = Report(found, self._root, os.getcwd(), self._variables)
        click.echo(OUTPUTS[self.findings](report), nl=False)

    def paint(self, style: str, text: str) -> str:
        """The text in a style, if colours are wanted."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and text else text


def counted(number: int, word: str, plural: str | None = None) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"
