"""What an output is made from, and what several of them say alike."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.secrets import is_secret, without_secrets
from compiler.diagnostics.source import Span
from compiler.frozen import frozen

_VARIABLE = re.compile(r"(?<!\$)\$\{\s*([A-Za-z_][\w.-]*)\s*\}")


@frozen(slots=True)
class Report:
    """The findings of one command.

    Args:
        diagnostics: all of them, in the order in which they are told.
        root: the project's folder, absolute; the files of the findings lie in it. Empty if there is none.
        here: the folder that paths of the output are relative to, absolute.
        variables: the project's variables, to tell what stood at a `${name}` that a finding is about.
    """

    diagnostics: Sequence[Diagnostic]
    root: str = ""
    here: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def path(self, span: Span | None) -> str | None:
        """The path of a place's file from `here`, with `/`; None for what is in no file, such as an option.

        A file that is not below `here` keeps its absolute path.
        """
        if span is None or span.file.path.startswith("--"):
            return None
        path = os.path.normpath(os.path.join(self.root, span.file.path))
        if self.here and path.startswith(self.here.rstrip(os.sep) + os.sep):
            path = os.path.relpath(path, self.here)
        return path.replace(os.sep, "/")

    def expansions(self, span: Span | None) -> list[tuple[Span, str]]:
        """The references to variables in a place, each with the text that was put for it.

        Values of variables whose name tells of a secret are left out, and so is the environment's.
        """
        if span is None:
            return []
        # One before, so that an escaped `$${` is seen whole.
        text, found = span.file.text, []
        for match in _VARIABLE.finditer(text, max(0, span.start - 1), span.end):
            name = match.group(1)
            if match.start() >= span.start and name in self.variables and not is_secret(name):
                found.append((Span(span.file, match.start(), match.end()), self.variables[name]))
        return found


def sentence(diagnostic: Diagnostic) -> str:
    """Message, cause and fix as lines of text, for outputs with one field for all of it."""
    lines = [diagnostic.message]
    if diagnostic.span is not None and diagnostic.span.file.path.startswith("--"):
        lines[0] += f" (in {diagnostic.span.place()})"
    if diagnostic.cause:
        lines.append(f"note: {diagnostic.cause}")
    if diagnostic.fix:
        lines.append(f"help: {diagnostic.fix}")
    return "\n".join(lines)


def snippet(span: Span) -> str:
    """The marked text. Its lines are looked at whole, for what stands before a value may make it a secret."""
    text = span.file.text
    first = text.rfind("\n", 0, span.start) + 1
    last = text.find("\n", span.end)
    shown = without_secrets(text[first : last if last >= 0 else len(text)])
    return shown[span.start - first : span.end - first]


def fingerprint(diagnostic: Diagnostic, path: str | None, occurrence: int) -> str:
    """An id that stays when lines are added above: of the code, the file, the marked text and the message.

    Args:
        diagnostic: the finding.
        path: its file.
        occurrence: how many findings of the same text came before it in the report.
    """
    marked = diagnostic.span.text if diagnostic.span is not None else ""
    parts = (diagnostic.code.name, path or "", marked, diagnostic.message, str(occurrence))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def fingerprints(report: Report) -> list[str]:
    """The fingerprint of each finding; no two are the same."""
    seen: dict[str, int] = {}
    found = []
    for diagnostic in report.diagnostics:
        path = report.path(diagnostic.span)
        base = fingerprint(diagnostic, path, 0)
        occurrence = seen.get(base, 0)
        seen[base] = occurrence + 1
        found.append(fingerprint(diagnostic, path, occurrence) if occurrence else base)
    return found
