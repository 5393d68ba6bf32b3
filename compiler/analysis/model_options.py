"""Options of a model: WITH ( ), `with:`, `config:` and `{{ config() }}`."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.suggest import suggest
from compiler.syntax.declarations import OptionDecl

# Known words of the language that no operator of this version listens to.
_LATER = (
    "allow_unbounded",
    "chain",
    "isolation",
    "materialized",
    "parallelism",
    "state_ttl",
    "trigger",
    "uid",
)


def check_options(options: Sequence[OptionDecl], reporter: Reporter) -> None:
    """Refuses options that would have no effect (HR106) or do not exist (HR212).

    Options that a SET has given are passed over: it speaks to whichever statement can use it.
    """
    for option in options:
        name = option.key.value.lower()
        if option.inherited or name == "tags":
            continue
        if name in _LATER:
            reporter.add(
                Diagnostic(
                    codes.UNSUPPORTED_SYNTAX,
                    f"model option `{name}` is not supported yet",
                    option.key.span,
                    fix="remove it",
                )
            )
        else:
            near = suggest(name, ("tags", *_LATER))
            reporter.add(
                Diagnostic(
                    codes.UNKNOWN_OPTION,
                    f"models have no option `{option.key.value}`",
                    option.key.span,
                    fix=f"did you mean `{near}`?" if near else None,
                )
            )
