"""Secrets are references, never text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan

_SECRET = re.compile(r"password|passwd|secret|token|api[._-]?key|credential", re.IGNORECASE)


def is_secret(option: str) -> bool:
    """Whether an option's name says that its value must not be shown."""
    return _SECRET.search(option) is not None


def clear_text_secret(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR608 for an option such as a password whose value stands in the file."""
    for sink in plan.sinks:
        for name, value in sink.options:
            if is_secret(name) and "${env:" not in str(value):
                yield Diagnostic(
                    codes.CLEAR_TEXT_SECRET,
                    f"`{name}` of sink `{sink.name}` is written in clear text",
                    sink.places.get(name, sink.span),
                    fix="put it into the environment and write '${env:NAME}'",
                )
