"""PATTERN of MATCH_RECOGNIZE, by a grammar of its own (grammars/match_pattern.lark), and AFTER MATCH SKIP."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.jobplan.operators.match import AnyPattern, Choice, Repeat, Sequence, Skip, SkipMode, Variable
from compiler.syntax.fragment import Fragment

# A bound such as {1000} is written out, and the matcher has a place for each row of it.
_MOST_PLACES = 1_000

_SKIP_FORM = "SKIP PAST LAST ROW, SKIP TO NEXT ROW, SKIP TO FIRST variable or SKIP TO LAST variable"
_SKIP = re.compile(
    r"\s*(?:AFTER\s+MATCH\s+)?(?:SKIP\s+)?"
    r"(?:(?P<past>PAST\s+LAST\s+ROW)|(?P<next>TO\s+NEXT\s+ROW)"
    r"|TO\s+(?:(?P<which>FIRST|LAST)\s+)?(?P<variable>[A-Za-z_]\w*|`[^`]+`))\s*",
    re.IGNORECASE,
)
# What the standard has and a stream, or one row a match, cannot have; with the reason.
_REFUSED: Final = (
    (re.compile(r"\{-"), "an exclusion leaves rows out of ALL ROWS PER MATCH, which is not supported"),
    (re.compile(r"\bPERMUTE\b", re.IGNORECASE), "PERMUTE is not supported: write the orders as alternatives"),
    (re.compile(r"\^"), "a partition of a stream has no row that is known to be the first"),
    (re.compile(r"\$"), "a stream has no last row"),
)


@frozen(slots=True)
class ParsedPattern:
    """A pattern, and its variables by lower-case name: how they are spelt and where they first stand."""

    pattern: AnyPattern
    variables: Mapping[str, tuple[str, Span]]
    span: Span


def parse_pattern(fragment: Fragment) -> ParsedPattern:
    """Parses what stands between the parentheses of PATTERN, or with them.

    Raises:
        DiagnosticError: it is no pattern (HR101), has a part that is not supported (HR106), may match no
            row, or has no certain end (HR350).
    """
    from compiler.syntax.statements_parser import UnexpectedInput

    try:
        tree = _parser().parse(fragment.text)
    except UnexpectedInput as error:
        raise _syntax_error(fragment, error) from error
    reader = _Reader(fragment)
    pattern = reader.alternatives(tree.children[0])
    parsed = ParsedPattern(pattern, reader.variables, fragment.strip().span())
    _check(parsed)
    return parsed


def parse_skip(fragment: Fragment, pattern: ParsedPattern) -> Skip:
    """Parses AFTER MATCH SKIP …; its first words may be left out.

    Raises:
        DiagnosticError: it is something else (HR101), or its variable is not in the pattern (HR352).
    """
    found = _SKIP.fullmatch(fragment.text)
    if found is None:
        message = "this does not say where the search goes on after a match"
        raise DiagnosticError(
            Diagnostic(codes.SQL_SYNTAX, message, fragment.strip().span(), fix=f"write {_SKIP_FORM}")
        )
    if found["past"]:
        return Skip("past_last_row")
    if found["next"]:
        return Skip("to_next_row")
    name = found["variable"].strip("`")
    known = pattern.variables.get(name.lower())
    if known is None:
        span = fragment.span(*found.span("variable"))
        message = f"the pattern has no variable `{name}` to skip to"
        fix = f"write {_SKIP_FORM}; variables are {', '.join(n for n, _ in pattern.variables.values())}"
        raise DiagnosticError(Diagnostic(codes.PATTERN_VARIABLE, message, span, fix=fix))
    mode: SkipMode = "to_first" if (found["which"] or "").upper() == "FIRST" else "to_last"
    if _certain_first(pattern.pattern, known[0], mode == "to_first"):
        message = f"after a match the search would begin again at the same row: `{known[0]}` is its first"
        raise DiagnosticError(
            Diagnostic(
                codes.MATCH_SKIP,
                message,
                fragment.strip().span(),
                cause="the same match would be found for ever",
                fix="write SKIP TO NEXT ROW",
            )
        )
    return Skip(mode, known[0])


@cache
def _parser() -> Any:
    from compiler.syntax.match_pattern_parser import Lark_StandAlone

    make: Any = Lark_StandAlone
    return make()


def _syntax_error(fragment: Fragment, error: Any) -> DiagnosticError:
    for form, reason in _REFUSED:
        found = form.search(fragment.text)
        if found is not None:
            span = fragment.span(*found.span())
            return DiagnosticError(Diagnostic(codes.UNSUPPORTED_SYNTAX, reason, span))
    at = getattr(error, "pos_in_stream", None)
    token = getattr(error, "token", None)
    length = len(str(token)) if token is not None and str(token) else 1
    stop = len(fragment.text.rstrip())
    if at is None or at < 0 or at >= stop:
        at, length = max(0, stop - 1), 1
    return DiagnosticError(
        Diagnostic(
            codes.SQL_SYNTAX,
            "the pattern cannot be read here",
            fragment.span(at, min(at + length, len(fragment.text))),
            cause="a pattern has variables, groups ( ), alternatives | and quantifiers * + ? {n} {n,} {n,m}",
            fix="write for example PATTERN (A B+ C)",
        )
    )


@dataclass
class _Reader:
    """Makes a pattern of lark's tree."""

    fragment: Fragment
    variables: dict[str, tuple[str, Span]] = field(default_factory=dict)

    def alternatives(self, tree: Any) -> AnyPattern:
        options = [self._sequence(child) for child in tree.children if hasattr(child, "data")]
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self, tree: Any) -> AnyPattern:
        parts = [self._factor(child) for child in tree.children]
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _factor(self, tree: Any) -> AnyPattern:
        primary, *quantifiers = tree.children
        part = self._primary(primary)
        return self._repeat(part, quantifiers[0]) if quantifiers else part

    def _primary(self, tree: Any) -> AnyPattern:
        if tree.data == "group":
            return self.alternatives(next(child for child in tree.children if hasattr(child, "data")))
        token = tree.children[0]
        name = str(token).strip("`")
        span = self.fragment.span(token.start_pos, token.end_pos)
        return Variable(self.variables.setdefault(name.lower(), (name, span))[0])

    def _repeat(self, part: AnyPattern, tree: Any) -> AnyPattern:
        first, *reluctant = tree.children
        text = str(first)
        least, most = _BOUNDS[text] if text in _BOUNDS else self._bounds(first)
        return part if (least, most) == (1, 1) else Repeat(part, least, most, not reluctant)

    def _bounds(self, token: Any) -> tuple[int, int | None]:
        low, comma, high = str(token).strip("{} \t\n").partition(",")
        least = int(low) if low.strip() else 0
        most = (int(high) if high.strip() else None) if comma else least
        if most is not None and (most == 0 or most < least):
            span = self.fragment.span(token.start_pos, token.end_pos)
            message = f"{token!s} allows no row" if most == 0 else f"{token!s} ends before it begins"
            raise DiagnosticError(
                Diagnostic(codes.SQL_SYNTAX, message, span, fix="write {least,most}, with most at least 1")
            )
        return least, most


_BOUNDS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


# --- what a stream can match ------------------------------------------------


def _check(parsed: ParsedPattern) -> None:
    if may_be_empty(parsed.pattern):
        raise DiagnosticError(
            Diagnostic(
                codes.PATTERN_SHAPE,
                "the pattern may match no row at all",
                parsed.span,
                cause="a match without rows has no time and no place in a stream",
                fix="let at least one variable be required: A+ in place of A*",
            )
        )
    last = _open_end(parsed.pattern)
    if last is not None:
        raise DiagnosticError(
            Diagnostic(
                codes.PATTERN_SHAPE,
                f"the pattern ends with {last}, so it is never known that a match is over",
                parsed.span,
                cause="a greedy quantifier takes rows as long as there are any, and a stream always has more",
                fix="add a variable behind it that ends the match, or make it reluctant with `?`",
            )
        )
    if _places(parsed.pattern) > _MOST_PLACES:
        message = f"the pattern is too long: written out it has more than {_MOST_PLACES} variables"
        fix = "use `*` or `+`, and count the rows in DEFINE: count(A.x) < 5000"
        raise DiagnosticError(Diagnostic(codes.PATTERN_SHAPE, message, parsed.span, fix=fix))


def may_be_empty(pattern: AnyPattern) -> bool:
    """Whether the pattern can match without a row."""
    match pattern:
        case Variable():
            return False
        case Sequence(parts=parts):
            return all(may_be_empty(part) for part in parts)
        case Choice(options=options):
            return any(may_be_empty(option) for option in options)
        case Repeat(part=part, least=least):
            return least == 0 or may_be_empty(part)


def _open_end(pattern: AnyPattern) -> str | None:
    """The greedy quantifier at the pattern's end, as it is written."""
    match pattern:
        case Variable():
            return None
        case Sequence(parts=parts):
            for part in reversed(parts):
                found = _open_end(part)
                if found is not None or not may_be_empty(part):
                    return found
            return None
        case Choice(options=options):
            return next((found for option in options if (found := _open_end(option)) is not None), None)
        case Repeat(part=part, least=least, most=most, greedy=greedy):
            if greedy and least != most:
                return "a greedy " + ("`?`" if (least, most) == (0, 1) else "quantifier")
            return _open_end(part)


def _places(pattern: AnyPattern) -> int:
    match pattern:
        case Variable():
            return 1
        case Sequence(parts=parts) | Choice(options=parts):
            return sum(_places(part) for part in parts)
        case Repeat(part=part, least=least, most=most):
            return _places(part) * (least + 1 if most is None else most)


def _certain_first(pattern: AnyPattern, variable: str, first_row: bool) -> bool:
    """Whether the row that is skipped to is the first one of every match."""
    begins = _always_begins(pattern, variable)
    return begins and (first_row or _at_most(pattern, variable) == 1)


def _always_begins(pattern: AnyPattern, variable: str) -> bool:
    match pattern:
        case Variable(name=name):
            return name == variable
        case Sequence(parts=parts):
            return _always_begins(parts[0], variable)
        case Choice(options=options):
            return all(_always_begins(option, variable) for option in options)
        case Repeat(part=part, least=least):
            return least > 0 and _always_begins(part, variable)


def _at_most(pattern: AnyPattern, variable: str) -> float:
    match pattern:
        case Variable(name=name):
            return name == variable
        case Sequence(parts=parts):
            return sum(_at_most(part, variable) for part in parts)
        case Choice(options=options):
            return max(_at_most(option, variable) for option in options)
        case Repeat(part=part, most=most):
            each = _at_most(part, variable)
            return each * (float("inf") if most is None else most) if each else 0
