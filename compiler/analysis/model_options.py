"""Options of a model or sink's query: WITH ( ), `with:`, `config:`, `{{ config() }}` and SET."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.suggest import suggest
from compiler.syntax.declarations import OptionDecl
from compiler.syntax.durations import parse_duration_ms


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What a query's options say of its state.

    Args:
        state_ttl_ms: after how many milliseconds without use an entry of state that nothing else bounds is
            dropped, or None.
        allow_unbounded: whether state may grow for ever.
    """

    state_ttl_ms: int | None = None
    allow_unbounded: bool = False

    @property
    def bounds_state(self) -> bool:
        """Whether state without a bound of its own has been asked for."""
        return self.state_ttl_ms is not None or self.allow_unbounded


def _state_ttl(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    milliseconds = parse_duration_ms(option.value.value)
    if milliseconds is None or milliseconds < 0:
        raise _wrong(option, "is not a duration", "write for example '1 d' or '12 hours'")
    # As in Flink, 0 is no TTL.
    return replace(options, state_ttl_ms=milliseconds or None, allow_unbounded=options.allow_unbounded)


def _allow_unbounded(options: ModelOptions, option: OptionDecl) -> ModelOptions:
    word = option.value.value.lower()
    if word not in ("true", "false"):
        raise _wrong(option, "is neither true nor false", "write true")
    return replace(options, allow_unbounded=word == "true")


def _tags(options: ModelOptions, _option: OptionDecl) -> ModelOptions:
    return options


# Option -> how it changes the options so far.
_READ: Final[dict[str, Callable[[ModelOptions, OptionDecl], ModelOptions]]] = {
    "allow_unbounded": _allow_unbounded,
    "state_ttl": _state_ttl,
    "tags": _tags,
}
# Known words of the language that no operator of this version listens to.
_LATER: Final = ("chain", "isolation", "materialized", "parallelism", "trigger", "uid")


def read_options(options: Sequence[OptionDecl], reporter: Reporter) -> ModelOptions:
    """The options of a query; what is wrong with them is reported.

    Those that would have no effect (HR106) or do not exist (HR212) are refused, unless a SET has given
    them: it speaks to whichever statement can use it. The statement's own options go before a SET's.
    """
    found = ModelOptions()
    for option in sorted(options, key=lambda o: not o.inherited):
        name = option.key.value.lower()
        if name in _READ:
            try:
                found = _READ[name](found, option)
            except DiagnosticError as error:
                reporter.add(*error.diagnostics)
        elif not option.inherited:
            reporter.add(_refused(option, name))
    return found


def _wrong(option: OptionDecl, problem: str, fix: str) -> DiagnosticError:
    message = f"`{option.key.value}`: `{option.value.value}` {problem}"
    return DiagnosticError(Diagnostic(codes.WRONG_VALUE, message, option.value.span, fix=fix))


def _refused(option: OptionDecl, name: str) -> Diagnostic:
    if name in _LATER:
        message = f"model option `{name}` is not supported yet"
        return Diagnostic(codes.UNSUPPORTED_SYNTAX, message, option.key.span, fix="remove it")
    near = suggest(name, (*_READ, *_LATER))
    return Diagnostic(
        codes.UNKNOWN_OPTION,
        f"models have no option `{option.key.value}`",
        option.key.span,
        fix=f"did you mean `{near}`?" if near else None,
    )
