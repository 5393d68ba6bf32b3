"""Annotations of GitHub's workflows, a line a finding.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.outputs.report import Report, sentence


def github(report: Report) -> str:
    """The lines; empty without findings."""
    return "".join(f"{_line(report, diagnostic)}\n" for diagnostic in report.diagnostics)


def _line(report: Report, diagnostic: Diagnostic) -> str:
    properties: dict[str, object] = {}
    path, span = report.path(diagnostic.span), diagnostic.span
    if path is not None and span is not None:
        line, column = span.file.position(span.start)
        end_line, end_column = span.file.position(max(span.start, span.end))
        properties = {"file": path, "line": line, "col": column, "endLine": end_line}
        if end_line == line:
            # GitHub's last column is inclusive, and it draws no columns over several lines.
            properties["endColumn"] = max(column, end_column - 1)
    properties["title"] = f"{diagnostic.code.name}: {diagnostic.code.title}"
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    message = f"{sentence(diagnostic)}\ndocs: {diagnostic.code.anchor}"
    return f"::{diagnostic.severity.value} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
