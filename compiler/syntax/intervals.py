"""INTERVAL literals: their type, and how long they are."""

from __future__ import annotations

import re
from fractions import Fraction

from sqlglot import exp

from compiler.diagnostics.suggest import suggest
from compiler.plan import types as t
from compiler.plan.expr import Literal

# Milliseconds a unit; a month or a year has no fixed length.
_MS: dict[str, Fraction] = {
    "WEEK": Fraction(604_800_000),
    "DAY": Fraction(86_400_000),
    "HOUR": Fraction(3_600_000),
    "MINUTE": Fraction(60_000),
    "SECOND": Fraction(1_000),
    "MILLISECOND": Fraction(1),
    "MICROSECOND": Fraction(1, 1_000),
}
_CALENDAR = ("MONTH", "YEAR", "QUARTER")
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_NUMBER = re.compile(r"^[+-]?\d+(\.\d+)?$")
_TEXT_PART = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)")


def interval_literal(tree: exp.Expr) -> Literal | None:
    """An INTERVAL as a literal whose value is milliseconds (None for months); None if it cannot be read."""
    value, unit = tree.this, tree.args.get("unit")
    text, negative = _number_text(value)
    if text is None:
        return None
    if isinstance(unit, exp.IntervalSpan):
        return _span(text, unit.this.name.upper(), unit.args["expression"].name.upper())
    if unit is None:
        return _words(text)
    name = _singular(unit.name)
    text = f"-{text}" if negative else text
    if not _NUMBER.match(text):
        return None
    if name in _CALENDAR:
        return Literal(t.YEAR_MONTH, False, f"INTERVAL '{text}' {name}", None)
    if name not in _MS:
        return None
    milliseconds = Fraction(text) * _MS[name]
    found = t.Interval("DAY") if name == "DAY" else t.DAY_TIME
    return Literal(found, False, f"INTERVAL '{text}' {name}", _whole(milliseconds))


def interval_problem(tree: exp.Expr) -> tuple[str, str]:
    """Why an INTERVAL cannot be read, and what to write."""
    unit = tree.args.get("unit")
    if isinstance(unit, exp.Var) and _singular(unit.name) not in (*_MS, *_CALENDAR):
        near = suggest(_singular(unit.name), (*_MS, *_CALENDAR))
        fix = f"did you mean `{near}`?" if near else f"units are {', '.join(_MS)}"
        return f"`{unit.name}` is no unit of time", fix
    return "this is not an interval", "write INTERVAL '5' MINUTES, or INTERVAL '1 12:30' DAY TO MINUTE"


def _number_text(value: exp.Expr | None) -> tuple[str | None, bool]:
    negative = isinstance(value, exp.Neg)
    if isinstance(value, exp.Neg):
        value = value.this
    return (str(value.this).strip(), negative) if isinstance(value, exp.Literal) else (None, negative)


def _singular(unit: str) -> str:
    name = unit.upper()
    return name[:-1] if name.endswith("S") and name[:-1] in (*_MS, *_CALENDAR) else name


def _whole(milliseconds: Fraction) -> int | float:
    return int(milliseconds) if milliseconds.denominator == 1 else float(milliseconds)


def _span(text: str, first: str, last: str) -> Literal | None:
    """`'1 12:30' DAY TO MINUTE`."""
    first, last = _singular(first), _singular(last)
    if (first, last) == ("YEAR", "MONTH"):
        return Literal(t.YEAR_MONTH, False, f"INTERVAL '{text}' YEAR TO MONTH", None)
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        return None
    names = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    sign = -1 if text.startswith("-") else 1
    parts = re.split(r"[ :]", text.lstrip("+-"))
    if len(parts) != len(names) or not all(_NUMBER.match(part) for part in parts):
        return None
    total = sum((Fraction(part) * _MS[name] for part, name in zip(parts, names, strict=True)), Fraction(0))
    return Literal(t.DAY_TIME, False, f"INTERVAL '{text}' {first} TO {last}", _whole(sign * total))


def _words(text: str) -> Literal | None:
    """`INTERVAL '1 day 2 hours'`."""
    matches = _TEXT_PART.findall(text)
    if not matches or _TEXT_PART.sub("", text).strip(" ,"):
        return None
    total = Fraction(0)
    for number, unit in matches:
        name = _singular(unit)
        if name not in _MS:
            return None
        total += Fraction(number) * _MS[name]
    return Literal(t.DAY_TIME, False, f"INTERVAL '{text}'", _whole(total))
