"""Which warnings a project does not want to hear, and which it takes for errors.

A pure pass over the findings of a run, after all of them are known. Errors are never silenced: what they say
would happen all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct

from compiler.diagnostics.codes import (
    ALLOWED_ERROR,
    CODES,
    UNKNOWN_CODE,
    UNUSED_ALLOW,
    Severity,
)
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.diagnostics.source import SourceFile, Span
from compiler.diagnostics.suggest import did_you_mean

ALL = "all"
# Codes that a run may say as well: whether an `allow` of the whole project silences one, no compile can tell.
_SAID_BY_RUNS = ("HR4", "HR5", "HR6")


class Allow(Struct, frozen=True):
    """A code that is silenced.

    Args:
        code: as it was written.
        place: where it was written.
        region: the range of the file in which it holds; None for the whole project.
    """

    code: str
    place: Span
    region: Span | None = None

    def covers(self, found: Diagnostic) -> bool:
        """Whether a finding is of this code and lies where it holds."""
        if found.code.name != self.code.upper():
            return False
        if self.region is None:
            return True
        span = found.span
        return (
            span is not None
            and span.file.path == self.region.file.path
            and self.region.start <= span.start < self.region.end
        )


class Raise(Struct, frozen=True):
    """A code whose warnings are errors, ALL for every code; `place` is where that was written."""

    code: str
    place: Span


class Policy(Struct, frozen=True):
    """What a project says of its findings."""

    allows: tuple[Allow, ...] = ()
    raises: tuple[Raise, ...] = ()

    def judge(self, found: Sequence[Diagnostic], *, complete: bool = False) -> tuple[Diagnostic, ...]:
        """The findings as the project wants them, and what is wrong with the wishes themselves.

        Args:
            found: all findings, in their order.
            complete: whether every check has run, so that an `allow` that silenced nothing never will.
        """
        if not self.allows and not self.raises:
            return tuple(found)
        wrong = list(self._unknown())
        used: set[Allow] = set()
        kept = [self._raised(d) for d in found if not self._silenced(d, used, wrong)]
        wrong += [_allowed_error(a) for a in self.allows if a not in used and _is_error(a)]
        kept += [self._raised(d) for d in wrong if not self._silenced(d, used, [])]
        if complete and not any(d.is_error for d in kept):
            unused = [_unused(a) for a in self.allows if a not in used and _is_worth_a_word(a)]
            kept += [self._raised(d) for d in unused if not self._silenced(d, used, [])]
        return tuple(kept)

    def allowed(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The findings of a run that the project wants to hear."""
        return tuple(d for d in found if not self._silenced(d, set(), []))

    def _silenced(self, found: Diagnostic, used: set[Allow], wrong: list[Diagnostic]) -> bool:
        covering = [allow for allow in self.allows if allow.covers(found)]
        if not covering:
            return False
        used.update(covering)
        if found.is_error:
            wrong.extend(_allowed_error(allow, found) for allow in covering)
            return False
        return True

    def _raised(self, found: Diagnostic) -> Diagnostic:
        if found.is_error:
            return found
        codes = {r.code.upper() for r in self.raises}
        if found.code.name in codes or ALL.upper() in codes:
            return replace(found, raised=Severity.ERROR)
        return found

    def _unknown(self) -> Iterator[Diagnostic]:
        wishes: list[Allow | Raise] = [*self.allows, *self.raises]
        for wish in wishes:
            if wish.code.upper() not in CODES and wish.code.lower() != ALL:
                yield Diagnostic(
                    UNKNOWN_CODE,
                    f"unknown code `{wish.code}`",
                    wish.place,
                    cause="the codes are those of docs/diagnostics",
                    fix=did_you_mean(wish.code, CODES),
                )
            elif isinstance(wish, Allow) and wish.code.lower() == ALL:
                yield Diagnostic(
                    UNKNOWN_CODE,
                    "warnings are silenced code by code",
                    wish.place,
                    fix="name the codes, such as `HR219`",
                )


def raises_of(text: str) -> tuple[Raise, ...]:
    """The codes of `--warn-as-error`, separated by commas or spaces."""
    file = SourceFile("--warn-as-error", text)
    found, at = [], 0
    for word in text.replace(",", " ").split():
        at = text.index(word, at)
        found.append(Raise(word, Span(file, at, at + len(word))))
        at += len(word)
    return tuple(found)


def _is_worth_a_word(allow: Allow) -> bool:
    """Whether an `allow` that silenced nothing is a mistake for certain."""
    code = allow.code.upper()
    return code in CODES and (allow.region is not None or not code.startswith(_SAID_BY_RUNS))


def _is_error(allow: Allow) -> bool:
    """Whether a code is an error. Some are now and then said as warnings, and those can be silenced."""
    code = CODES.get(allow.code.upper())
    return code is not None and code.severity is Severity.ERROR


def _allowed_error(allow: Allow, found: Diagnostic | None = None) -> Diagnostic:
    related = (Label(found.span, "this error"),) if found is not None and found.span is not None else ()
    return Diagnostic(
        ALLOWED_ERROR,
        f"`{allow.code}` is an error, and errors cannot be silenced",
        allow.place,
        cause="what it says would happen all the same",
        fix="correct it, and remove the `allow`",
        related=related,
    )


def _unused(allow: Allow) -> Diagnostic:
    where = "in the project" if allow.region is None else "there"
    return Diagnostic(
        UNUSED_ALLOW,
        f"`allow {allow.code}` silences nothing",
        allow.place,
        cause=f"{where} is no {allow.code.upper()} ({CODES[allow.code.upper()].title})",
        fix="remove it",
    )
