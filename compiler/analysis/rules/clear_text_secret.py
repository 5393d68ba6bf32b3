"""Secrets are references, never text."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.secrets import is_secret
from compiler.diagnostics.source import Span
from compiler.plan.logical import LogicalPlan


def clear_text(option: str, value: object, owner: str, span: Span) -> Diagnostic | None:
    """HR608 if an option's name says that its value is a secret, and it stands in the file."""
    if not is_secret(option) or "${env:" in str(value):
        return None
    return Diagnostic(
        codes.CLEAR_TEXT_SECRET,
        f"`{option}` of {owner} is written in clear text",
        span,
        fix="put it into the environment and write '${env:NAME}'",
    )


def clear_text_secret(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR608 for an option of a sink such as a password."""
    for sink in plan.sinks:
        for name, value in sink.options:
            found = clear_text(name, value, f"sink `{sink.name}`", sink.places.get(name, sink.span))
            if found is not None:
                yield found
