"""One JSON document with every field of every finding."""

from __future__ import annotations

import json
from typing import Final

from compiler.diagnostics.outputs.report import Report
from compiler.diagnostics.render import place, to_dict
from compiler.version import VERSION

# Raised when a field changes its meaning or goes; new fields do not raise it.
FORMAT_VERSION: Final = 1


def json_document(report: Report) -> str:
    """The document.

    Lines and columns count from 1, offsets from 0, all in characters; ends are exclusive. `file` is relative
    to `project`.
    """
    errors = sum(d.is_error for d in report.diagnostics)
    found = []
    for diagnostic in report.diagnostics:
        expansions = [
            {"place": place(span), "reference": span.text, "text": text}
            for span, text in report.expansions(diagnostic.span)
        ]
        found.append({**to_dict(diagnostic), "expansions": expansions})
    document = {
        "version": FORMAT_VERSION,
        "headrace": VERSION,
        "project": report.root or None,
        "errors": errors,
        "warnings": len(found) - errors,
        "diagnostics": found,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
