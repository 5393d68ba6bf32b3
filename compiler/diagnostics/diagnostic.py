"""The one type in which headrace says what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from compiler.diagnostics.codes import (
    IMPOSSIBLE_VALUE,
    JINJA,
    UNDEFINED_VARIABLE,
    UNKNOWN_CONNECTOR,
    WRONG_VALUE,
    Code,
    Severity,
)
from compiler.diagnostics.source import Span
from compiler.frozen import frozen


@frozen(slots=True)
class Label:
    """A second place that helps to understand the first."""

    span: Span
    text: str


@frozen(slots=True)
class Diagnostic:
    """One finding.

    Args:
        code: what kind of finding it is; its page in the docs has the same name.
        message: one sentence, lower case, no full stop, naming the thing.
        span: where, or None when it is not in a file (the environment, a state root).
        cause: why this is so, in a sentence or two; shown as a note.
        fix: what to do; shown as help.
        label: a few words under the carets.
        related: other places.
        raised: a severity other than the code's own (a warning raised to an error).
    """

    code: Code
    message: str
    span: Span | None = None
    cause: str | None = None
    fix: str | None = None
    label: str | None = None
    related: tuple[Label, ...] = ()
    raised: Severity | None = None

    @property
    def severity(self) -> Severity:
        """How much it stops."""
        return self.raised or self.code.severity

    @property
    def is_error(self) -> bool:
        """Whether nothing may run while this stands."""
        return self.severity is Severity.ERROR


Phase = Literal["load", "part", "project"]
"""What found something: the loader; binder, rules and grouping; or rules that look at the whole project."""


class DiagnosticError(Exception):
    """Carries diagnostics out of code that cannot go on.

    Only the edges catch it: the loader for a file, the binder for a model, a command for a run.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(f"{d.code.name}: {d.message}" for d in diagnostics))
        self.diagnostics = diagnostics


class Reporter:
    """Collects the findings of a run, so that all of them are told and not the first.

    The only mutable thing that the passes share. A finding that is there already is not added twice.
    `phase` says what looks for findings now.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Diagnostic] = {}
        self._phases: dict[int, Phase] = {}
        self.phase: Phase = "load"

    def add(self, *diagnostics: Diagnostic) -> None:
        """Adds findings."""
        for diagnostic in diagnostics:
            span = diagnostic.span
            place = (span.file.path, span.start, span.end) if span else ()
            kept = self._found.setdefault((diagnostic.code.name, diagnostic.message, *place), diagnostic)
            self._phases.setdefault(id(kept), self.phase)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Adds all findings of an iterable."""
        self.add(*diagnostics)

    @property
    def has_errors(self) -> bool:
        """Whether one of the findings is an error."""
        return any(d.is_error for d in self._found.values())

    def all(self) -> tuple[Diagnostic, ...]:
        """The findings by file and place; those without a place come first."""

        def key(d: Diagnostic) -> tuple[str, int, str]:
            return (d.span.file.path, d.span.start, d.code.name) if d.span else ("", 0, d.code.name)

        return tuple(sorted(self._without_consequences(), key=key))

    def by_phase(self) -> tuple[tuple[Phase, Diagnostic], ...]:
        """All findings, each with what `phase` was set to when it was added."""
        return tuple((self._phases[id(d)], d) for d in self.all())

    def _without_consequences(self) -> list[Diagnostic]:
        """The findings without those at a variable or a template call that has no value.

        Something is put for it so that reading goes on, and what is wrong with that is nobody's mistake, nor
        what is wrong with a value of which it is a part.
        """
        kept = (UNDEFINED_VARIABLE, JINJA)
        unread = [d.span for d in self._found.values() if d.span and d.code in kept]

        def follows(found: Diagnostic) -> bool:
            span, is_value = found.span, found.code in (WRONG_VALUE, UNKNOWN_CONNECTOR, IMPOSSIBLE_VALUE)
            return span is not None and any(
                span == part
                or (is_value and span.file is part.file and span.start <= part.start and part.end <= span.end)
                for part in unread
            )

        return [d for d in self._found.values() if d.code in kept or not follows(d)]
