"""The forms in which findings are written for machines, one a file.

A new one is a file here and a line in OUTPUTS.

Text for people is `compiler.diagnostics.render`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from compiler.diagnostics.outputs.github import github
from compiler.diagnostics.outputs.gitlab import gitlab
from compiler.diagnostics.outputs.json_document import json_document
from compiler.diagnostics.outputs.report import Report
from compiler.diagnostics.outputs.sarif import sarif

OUTPUTS: Final[dict[str, Callable[[Report], str]]] = {
    "json": json_document,
    "sarif": sarif,
    "github": github,
    "gitlab": gitlab,
}
