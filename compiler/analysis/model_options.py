"""Options of what has a name: WITH ( ), `with:`, `config:`, `{{ config() }}` and SET.

To add an option: write how it changes `ModelOptions`, and add its line to `OPTIONS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean, suggest
from compiler.frozen import frozen
from compiler.plan.asked import Asked
from compiler.syntax.declarations import OptionDecl
from compiler.syntax.durations import parse_duration_ms

Of = Literal["source", "model", "sink"]
Chain = Literal["always", "head", "never"]

MATERIALIZED: Final = ("view", "ephemeral", "delta", "files")
"""What a model can be kept as: `view` and dbt's `ephemeral` keep nothing of their own."""

CHAINS: Final[tuple[Chain, ...]] = ("always", "head", "never")
ISOLATIONS: Final = ("shared", "own")

_AVAILABLE_NOW: Final = ("available_now", "availablenow")
_UID = re.compile(r"[^\W\d][\w$-]*")


@frozen(slots=True)
class ModelOptions:
    """What the options of a source, model or sink say, beside those of its connector.

    Args:
        state_ttl_ms: after how many milliseconds without use an entry of state that nothing else bounds is
            dropped, or None.
        allow_unbounded: whether state may grow for ever.
        uid: under which state, ledgers and transactions are kept, instead of the name.
        tags: words to select by.
        trigger: milliseconds between the epochs of the query that runs it, None in it for available_now.
        parallelism: number of state partitions of that query.
        materialized: what a model is kept as, if it says so.
        chain: `head` and `never` end a chain of operators before the model, `never` behind it as well.
        isolation: where the model or sink asks for queries of its own, None if it shares them.
        contract: where a contract is enforced: the declared columns are all that there are.
    """

    state_ttl_ms: int | None = None
    allow_unbounded: bool = False
    uid: Asked[str] | None = None
    tags: tuple[str, ...] = ()
    trigger: Asked[int | None] | None = None
    parallelism: Asked[int] | None = None
    materialized: Asked[str] | None = None
    chain: Chain | None = None
    isolation: Span | None = None
    contract: Span | None = None

    @property
    def bounds_state(self) -> bool:
        """Whether state without a bound of its own has been asked for."""
        return self.state_ttl_ms is not None or self.allow_unbounded


def _state_ttl(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    milliseconds = parse_duration_ms(option.value.value)
    if milliseconds is None or milliseconds < 0:
        raise _wrong(option, "is not a duration", "write for example '1 d' or '12 hours'")
    # As in Flink, 0 is no TTL.
    return replace(options, state_ttl_ms=milliseconds or None)


def _flag(option: OptionDecl) -> bool:
    word = option.value.value.lower()
    if word not in ("true", "false"):
        raise _wrong(option, "is neither true nor false", "write true")
    return word == "true"


def _allow_unbounded(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    return replace(options, allow_unbounded=_flag(option))


def _contract(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    return replace(options, contract=option.key.span if _flag(option) else None)


def _tags(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    words = [word.strip() for word in option.value.value.split(",")]
    return replace(options, tags=(*options.tags, *(word for word in words if word)))


def _uid(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    if not _UID.fullmatch(option.value.value):
        raise _wrong(
            option, "cannot be a uid", "begin with a letter or `_`, go on with letters, digits, `_`, `-`"
        )
    return replace(options, uid=Asked(option.value.value, option.value.span))


def _trigger(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    text = option.value.value.strip()
    milliseconds = None if text.lower() in _AVAILABLE_NOW else parse_duration_ms(text)
    if milliseconds is None and text.lower() not in _AVAILABLE_NOW:
        fix = did_you_mean(text, ("available_now",))
        raise _wrong(option, "is no trigger", fix or "write available_now, or a time such as '5 seconds'")
    return replace(options, trigger=Asked(milliseconds, option.value.span))


def _parallelism(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    if not re.fullmatch(r"[1-9]\d{0,4}", option.value.value):
        raise _wrong(option, "is no number from 1 on", "write for example 8")
    return replace(options, parallelism=Asked(int(option.value.value), option.value.span))


def _materialized(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    word = option.value.value.lower()
    if word not in MATERIALIZED:
        known = f"it is one of {', '.join(MATERIALIZED)}"
        fix = "write delta" if word in ("table", "incremental") else did_you_mean(word, MATERIALIZED)
        raise _wrong(option, "is no way to keep a model", fix or known)
    return replace(options, materialized=Asked(word, option.value.span))


def _chain(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    word = option.value.value.lower()
    for known in CHAINS:
        if word == known:
            return replace(options, chain=known)
    raise _wrong(
        option, "is no way to chain", did_you_mean(word, CHAINS) or f"it is one of {', '.join(CHAINS)}"
    )


def _isolation(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    word = option.value.value.lower()
    if word not in ISOLATIONS:
        raise _wrong(option, "is no isolation", did_you_mean(word, ISOLATIONS) or "it is shared or own")
    return replace(options, isolation=option.key.span if word == "own" else None)


Read = Callable[[ModelOptions, OptionDecl], ModelOptions]

# Option -> how it changes the options so far, and what can have it.
OPTIONS: Final[dict[str, tuple[Read, tuple[Of, ...]]]] = {
    "allow_unbounded": (_allow_unbounded, ("model", "sink")),
    "chain": (_chain, ("model",)),
    "contract.enforced": (_contract, ("model",)),
    "isolation": (_isolation, ("model", "sink")),
    "materialized": (_materialized, ("model",)),
    "parallelism": (_parallelism, ("model", "sink")),
    "state_ttl": (_state_ttl, ("model", "sink")),
    "tags": (_tags, ("source", "model", "sink")),
    "trigger": (_trigger, ("model", "sink")),
    "uid": (_uid, ("source", "model", "sink")),
}


def read_options(options: Sequence[OptionDecl], reporter: Reporter) -> ModelOptions:
    """The options of a model; what is wrong with them is reported.

    Those that would have no effect (HR106) or do not exist (HR212) are refused, unless a SET has given
    them: it speaks to whichever statement can use it. The statement's own options go before a SET's.
    """
    found, others = take_options(options, "model", reporter)
    for option in others:
        if not option.inherited:
            near = suggest(option.key.value, OPTIONS)
            fix = f"did you mean `{near}`?" if near else None
            message = f"models have no option `{option.key.value}`"
            reporter.add(Diagnostic(codes.UNKNOWN_OPTION, message, option.key.span, fix=fix))
    return found


def take_options(
    options: Sequence[OptionDecl], of: Of, reporter: Reporter
) -> tuple[ModelOptions, tuple[OptionDecl, ...]]:
    """The options of this module's list, and those that are left for the connector.

    Args:
        options: all that a declaration has.
        of: what is declared.
        reporter: takes what is wrong with the former.
    """
    found = ModelOptions()
    others: list[OptionDecl] = []
    for option in sorted(options, key=lambda o: not o.inherited):
        name = option.key.value.lower().replace("-", "_")
        read, can_have = OPTIONS.get(name, (None, ()))
        if read is None:
            others.append(option)
        elif of in can_have:
            try:
                found = read(found, option)
            except DiagnosticError as error:
                reporter.add(*error.diagnostics)
        elif not option.inherited:
            reporter.add(
                Diagnostic(
                    codes.UNKNOWN_OPTION,
                    f"a {of} has no option `{name}`",
                    option.key.span,
                    fix=f"write it on a {' or a '.join(can_have)}",
                )
            )
    return found, tuple(others)


def _wrong(option: OptionDecl, problem: str, fix: str) -> DiagnosticError:
    message = f"`{option.key.value}`: `{option.value.value}` {problem}"
    return DiagnosticError(Diagnostic(codes.WRONG_VALUE, message, option.value.span, fix=fix))
