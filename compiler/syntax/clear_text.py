"""Secrets are references, never text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostics.codes import CLEAR_TEXT_SECRET
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.secrets import holds_secret
from compiler.syntax.declarations import OptionDecl


def clear_text(options: Iterable[OptionDecl], owner: str) -> Iterator[Diagnostic]:
    """HR608 (warning) for options whose names or values say that they hold a secret.

    Args:
        options: as they were written.
        owner: whose they are, for the message.
    """
    for option in options:
        if holds_secret(option.key.value, option.value.value) and not option.inherited:
            yield Diagnostic(
                CLEAR_TEXT_SECRET,
                f"`{option.key.value}` of {owner} is written in clear text",
                option.key.span,
                fix="put it into the environment and write '${env:NAME}'",
            )
