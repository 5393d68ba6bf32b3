"""Reading type names: Spark's, and Flink's spellings of them."""

from __future__ import annotations

import re

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.suggest import suggest
from compiler.plan import types as t
from compiler.syntax.fragment import Fragment

_SIMPLE: dict[str, t.DataType] = {
    "boolean": t.BOOLEAN,
    "bool": t.BOOLEAN,
    "tinyint": t.TINYINT,
    "byte": t.TINYINT,
    "smallint": t.SMALLINT,
    "short": t.SMALLINT,
    "int": t.INT,
    "integer": t.INT,
    "bigint": t.BIGINT,
    "long": t.BIGINT,
    "float": t.FLOAT,
    "real": t.FLOAT,
    "double": t.DOUBLE,
    "string": t.STRING,
    "text": t.STRING,
    "varchar": t.STRING,
    "char": t.STRING,
    "character": t.STRING,
    "binary": t.BINARY,
    "varbinary": t.BINARY,
    "bytes": t.BINARY,
    "date": t.DATE,
    "timestamp": t.TIMESTAMP,
    "timestamp_ltz": t.TIMESTAMP,
    "decimal": t.Decimal(10, 0),
    "dec": t.Decimal(10, 0),
    "numeric": t.Decimal(10, 0),
    "variant": t.VARIANT,
}
_NESTED = ("array", "map", "struct", "row")
_REFUSED = {
    "multiset": "Spark has no MULTISET; an ARRAY or a MAP to counts holds the same",
    "raw": "it holds bytes that only Flink's serializers read; use BYTES",
    "null": "a column needs a type",
    "timestamp_ntz": "Spark refuses it as an event time; TIMESTAMP is a time in the project's zone",
    "time": "Spark 4.2 cannot keep TIME in streaming state; use STRING or an INT of milliseconds",
}
_LENGTHS = ("varchar", "char", "character", "varbinary", "binary")
_ZONES = (
    ("with", "local", "time", "zone"),
    ("with", "time", "zone"),
    ("without", "time", "zone"),
)
_YEAR_MONTH = ("YEAR", "MONTH")
_DAY_TIME = ("DAY", "HOUR", "MINUTE", "SECOND")
_AFTER_TYPE = (",", ">", ")", "(", "<", "not")
_FINEST = 9
_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<number>\d+)|`(?P<quoted>[^`]+)`|(?P<text>'(?:[^']|'')*')|(?P<mark>[<>(),:]))"
)

TYPE_NAMES = tuple(sorted({*_SIMPLE, *_NESTED}))


def parse_type(fragment: Fragment) -> t.DataType:
    """Reads a type, with NOT NULL allowed inside nested types.

    Raises:
        DiagnosticError: not a type (HR210), or one that cannot be used (HR106).
    """
    return _Reader(fragment).whole()


def why_refused(name: str) -> str | None:
    """Why a type of Flink's or Spark's cannot be used, by its name; None if that is not known."""
    return _REFUSED.get(name.lower())


# Reading goes down a type by recursion, and so does all that is done with it later.
_DEEPEST = 50


class _Reader:
    def __init__(self, fragment: Fragment) -> None:
        self._fragment = fragment
        self._tokens: list[tuple[str, str, int, int]] = []
        self._index = 0
        self._depth = 0
        position, text = 0, fragment.text.rstrip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error(
                    f"`{text[position:].strip()}` does not belong to a type", position, len(text)
                )
            kind = match.lastgroup or ""
            self._tokens.append((kind, match.group(kind), match.start(kind), match.end(kind)))
            position = match.end()

    def whole(self) -> t.DataType:
        found = self._type()
        if self._index < len(self._tokens):
            _, text, start, end = self._tokens[self._index]
            raise self._error(f"`{text}` does not belong to the type", start, end)
        return found

    def _error(self, message: str, start: int, end: int, fix: str | None = None) -> DiagnosticError:
        return DiagnosticError(
            Diagnostic(codes.UNKNOWN_TYPE, message, self._fragment.span(start, end), fix=fix)
        )

    def _peek(self) -> str:
        return self._tokens[self._index][1].lower() if self._index < len(self._tokens) else ""

    def _peeks(self, *words: str) -> bool:
        """Whether these words come next."""
        ahead = self._tokens[self._index : self._index + len(words)]
        return tuple(text.lower() for _, text, _, _ in ahead) == words

    def _next(self, what: str) -> tuple[str, str, int, int]:
        if self._index >= len(self._tokens):
            end = len(self._fragment.text)
            raise self._error(f"{what} is missing at the end of the type", max(0, end - 1), end)
        self._index += 1
        return self._tokens[self._index - 1]

    def _mark(self, mark: str) -> None:
        _, text, start, end = self._next(f"`{mark}`")
        if text != mark:
            raise self._error(f"`{mark}` is expected before `{text}`", start, end)

    def _number(self) -> int:
        kind, text, start, end = self._next("a number")
        if kind != "number":
            raise self._error(f"a number is expected where `{text}` stands", start, end)
        return int(text)

    def _parameters(self, most: int) -> list[int]:
        if self._peek() != "(":
            return []
        self._mark("(")
        numbers = [self._number()]
        while self._peek() == "," and len(numbers) < most:
            self._mark(",")
            numbers.append(self._number())
        self._mark(")")
        return numbers

    def _type(self) -> t.DataType:
        self._depth += 1
        if self._depth > _DEEPEST:
            _, _, start, end = self._tokens[self._index - 1]
            raise self._error(f"types inside types are at most {_DEEPEST} deep", start, end)
        try:
            return self._any_type()
        finally:
            self._depth -= 1

    def _any_type(self) -> t.DataType:
        found = self._first_type()
        # `INT ARRAY` and `INT NOT NULL ARRAY` are how the standard writes ARRAY<INT>.
        while True:
            nullable = self._peeks("array")
            if not nullable and not self._peeks("not", "null", "array"):
                return found
            self._index += 1 if nullable else 3
            found = t.Array(found, nullable)

    def _first_type(self) -> t.DataType:
        kind, text, start, end = self._next("a type")
        name = text.lower()
        if kind != "name":
            raise self._error(f"a type is expected where `{text}` stands", start, end)
        if name in _REFUSED:
            raise DiagnosticError(
                Diagnostic(
                    codes.UNSUPPORTED_SYNTAX,
                    f"type {text.upper()} cannot be used",
                    self._fragment.span(start, end),
                    cause=_REFUSED[name],
                )
            )
        if name in _NESTED:
            return self._nested(name)
        if name == "interval":
            return self._interval(start)
        found = _SIMPLE.get(name)
        if found is None:
            near = suggest(name, TYPE_NAMES)
            fix = f"did you mean `{near.upper()}`?" if near else f"types are {', '.join(TYPE_NAMES).upper()}"
            raise self._error(f"unknown type `{text}`", start, end, fix)
        return self._sized(name, found, start)

    def _sized(self, name: str, found: t.DataType, start: int) -> t.DataType:
        if isinstance(found, t.Decimal):
            numbers = self._parameters(2)
            precision, scale = (*numbers, 0)[:2] if numbers else (10, 0)
            if not (1 <= precision <= 38 and 0 <= scale <= precision):
                raise self._error(
                    f"DECIMAL({precision},{scale}) is out of range",
                    start,
                    self._tokens[self._index - 1][3],
                    "the precision is 1 to 38 digits, the scale at most the precision",
                )
            return t.Decimal(precision, scale)
        if isinstance(found, t.Timestamp):
            numbers = self._parameters(1)
            self._zone()
            if numbers and numbers[0] > _FINEST:
                raise self._error(
                    f"TIMESTAMP({numbers[0]}) is out of range",
                    start,
                    self._tokens[self._index - 1][3],
                    f"the precision is 0 to {_FINEST} digits of the second",
                )
            return t.Timestamp(numbers[0]) if numbers else found
        if name == "double" and self._peeks("precision"):
            self._next("")
        if name in ("char", "character", "binary") and self._peeks("varying"):
            self._next("")
        if name in _LENGTHS:
            self._parameters(1)
        return found

    def _zone(self) -> None:
        # TIMESTAMP(3) WITH [LOCAL] TIME ZONE
        for words in _ZONES:
            if self._peeks(*words):
                self._index += len(words)

    def _interval(self, start: int) -> t.DataType:
        """`INTERVAL DAY(3) TO SECOND(3)`: how many digits a field may have is not kept."""
        first = self._unit()
        last = first
        if self._peeks("to"):
            self._next("")
            last = self._unit()
        for fields in (_YEAR_MONTH, _DAY_TIME):
            if first in fields and last in fields and fields.index(first) <= fields.index(last):
                return t.Interval(first if first == last else f"{first} TO {last}")
        raise self._error(
            f"INTERVAL {first} TO {last} is no type",
            start,
            self._tokens[self._index - 1][3],
            "intervals are YEAR TO MONTH or DAY TO SECOND",
        )

    def _unit(self) -> str:
        _, text, start, end = self._next("a unit such as DAY")
        if text.upper() not in (*_YEAR_MONTH, *_DAY_TIME):
            raise self._error(f"`{text}` is no unit of an interval", start, end)
        self._parameters(2)
        return text.upper()

    def _nested(self, name: str) -> t.DataType:
        if name == "row" and self._peek() == "(":
            self._mark("(")
            return self._fields(")")
        self._mark("<")
        if name == "array":
            element, nullable = self._element()
            self._mark(">")
            return t.Array(element, nullable)
        if name == "map":
            key, _ = self._element()
            self._mark(",")
            value, nullable = self._element()
            self._mark(">")
            return t.Map(key, value, nullable)
        return self._fields(">")

    def _fields(self, closing: str) -> t.Struct:
        fields = [self._field(0)]
        while self._peek() == ",":
            self._mark(",")
            fields.append(self._field(len(fields)))
        self._mark(closing)
        return t.Struct(tuple(fields))

    def _element(self) -> tuple[t.DataType, bool]:
        found = self._type()
        return found, self._nullable()

    def _nullable(self) -> bool:
        if self._peeks("not", "null"):
            self._index += 2
            return False
        if self._peeks("null"):
            self._next("")
        return True

    def _field(self, index: int) -> t.StructField:
        _, name, _, _ = self._next("a field's name")
        if self._peek() in _AFTER_TYPE:  # ROW<INT, STRING>: Flink calls the fields f0, f1
            self._index -= 1
            name = f"f{index}"
        elif self._peek() == ":":
            self._mark(":")
        found, nullable = self._element()
        if self._index < len(self._tokens) and self._tokens[self._index][0] == "text":
            self._next("")  # a comment
        return t.StructField(name, found, nullable)
