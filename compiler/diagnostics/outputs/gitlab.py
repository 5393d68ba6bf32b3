"""GitLab's code quality report.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json

from compiler.diagnostics.outputs.report import Report, fingerprints, sentence


def gitlab(report: Report) -> str:
    """The report. What is in no file is told of the project's own file, since GitLab wants one."""
    found = []
    for diagnostic, fingerprint in zip(report.diagnostics, fingerprints(report), strict=True):
        span = diagnostic.span
        path = report.path(span)
        line = span.file.position(span.start)[0] if span is not None and path is not None else 1
        found.append(
            {
                "description": sentence(diagnostic),
                "check_name": diagnostic.code.name,
                "fingerprint": fingerprint,
                "severity": "critical" if diagnostic.is_error else "minor",
                "location": {"path": path or "headrace.yml", "lines": {"begin": line}},
            }
        )
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
