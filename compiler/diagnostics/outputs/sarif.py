"""SARIF 2.1.0, the form that code scanners share.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from compiler.diagnostics.catalogue import explanation
from compiler.diagnostics.codes import CODES, Code
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.outputs.report import Report, fingerprints, sentence, snippet
from compiler.diagnostics.source import Span
from compiler.version import VERSION

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE: Final = "HERE"


def sarif(report: Report) -> str:
    """The log, with one run. All codes are its rules, so that an index means the same in every log."""
    names = sorted(CODES)
    index = {name: number for number, name in enumerate(names)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "headrace",
                "version": VERSION,
                "semanticVersion": VERSION,
                "rules": [_rule(CODES[name]) for name in names],
            }
        },
        # Offsets count characters, not UTF-16 units.
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(report, diagnostic, index, fingerprint)
            for diagnostic, fingerprint in zip(report.diagnostics, fingerprints(report), strict=True)
        ],
    }
    if report.here:
        run["originalUriBaseIds"] = {_BASE: {"uri": Path(report.here).as_uri().rstrip("/") + "/"}}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: Code) -> dict[str, Any]:
    text = explanation(code)
    return {
        "id": code.name,
        "name": "".join(word.capitalize() for word in code.title.replace(",", "").split()),
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": text},
        "help": {"text": f"{text}\n\n{code.anchor}"},
        "defaultConfiguration": {"level": code.severity.value},
    }


def _result(
    report: Report, diagnostic: Diagnostic, index: dict[str, int], fingerprint: str
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": diagnostic.code.name,
        "ruleIndex": index[diagnostic.code.name],
        "level": diagnostic.severity.value,
        "message": {"text": sentence(diagnostic)},
        "partialFingerprints": {"headrace/v1": fingerprint},
    }
    place = _location(report, diagnostic.span)
    if place is not None:
        found["locations"] = [place]
    related: list[dict[str, Any]] = []
    for label in diagnostic.related:
        place = _location(report, label.span)
        if place is not None:
            related.append({"id": len(related) + 1, **place, "message": {"text": label.text}})
    if related:
        found["relatedLocations"] = related
    return found


def _location(report: Report, span: Span | None) -> dict[str, Any] | None:
    path = report.path(span)
    if path is None or span is None:
        return None
    line, column = span.file.position(span.start)
    end_line, end_column = span.file.position(max(span.start, span.end))
    artifact: dict[str, Any]
    if path.startswith("/") or Path(path).is_absolute():
        artifact = {"uri": Path(path).as_uri()}
    else:
        # A relative reference: what a URI reserves is escaped, the separators stay.
        from urllib.parse import quote

        artifact = {"uri": quote(path), **({"uriBaseId": _BASE} if report.here else {})}
    return {
        "physicalLocation": {
            "artifactLocation": artifact,
            "region": {
                "startLine": line,
                "startColumn": column,
                "endLine": end_line,
                "endColumn": end_column,
                "charOffset": span.start,
                "charLength": max(0, span.end - span.start),
                "snippet": {"text": snippet(span)},
            },
        }
    }
