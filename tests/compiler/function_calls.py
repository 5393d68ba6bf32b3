"""Types a call that is written as SQL text, of names, literals and calls, by the catalogue alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from compiler.functions import lookup
from compiler.functions.lambdas import lambda_parameters
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t

_TOKEN = re.compile(
    r"\s*(?:(?P<typed>(?:date|timestamp|X)'[^']*')|(?P<span>interval\s+'[^']*'\s+\w+(?:\s+to\s+\w+)?)"
    r"|(?P<text>'(?:[^'])*')|(?P<number>-?\d+(?:\.\d+)?(?:[eE]\d+)?[A-Za-z]{0,2})|(?P<name>\w+)"
    r"|(?P<mark>->|[(),]))"
)
_SUFFIX = {"L": t.BIGINT, "S": t.SMALLINT, "Y": t.TINYINT, "F": t.FLOAT, "D": t.DOUBLE}


_DATA = Path(__file__).parent / "functions"


def _lines(name: str) -> list[str]:
    lines = (line.strip() for line in (_DATA / name).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


EXAMPLES = _lines("examples.txt")
REJECTED = _lines("rejected.txt")

# Name, type and a value that is not NULL, as Spark writes them.
TABLE: dict[str, tuple[t.DataType, str]] = {
    "bool": (t.BOOLEAN, "true"),
    "tiny": (t.TINYINT, "1Y"),
    "small": (t.SMALLINT, "1S"),
    "i": (t.INT, "1"),
    "big": (t.BIGINT, "1L"),
    "f": (t.FLOAT, "0.5F"),
    "d": (t.DOUBLE, "0.5D"),
    "d10_2": (t.Decimal(10, 2), "CAST(0.5 AS DECIMAL(10,2))"),
    "d38_10": (t.Decimal(38, 10), "CAST(0.5 AS DECIMAL(38,10))"),
    **{
        f"n{p}_{s}": (t.Decimal(p, s), f"CAST(0.{'0' * (s - 1)}{'1' * (s > 0)} AS DECIMAL({p},{s}))")
        for p, s in ((10, 0), (20, 18), (30, 20), (36, 30), (38, 0), (38, 2), (38, 30), (38, 38))
    },
    "s": (t.STRING, "'1'"),
    "bin": (t.BINARY, "X'01'"),
    "dt": (t.DATE, "date'2024-02-29'"),
    "ts": (t.TIMESTAMP, "timestamp'2024-02-29 12:30:00'"),
    "dts": (t.DAY_TIME, "INTERVAL '1 02:03:04' DAY TO SECOND"),
    "ym": (t.YEAR_MONTH, "INTERVAL '1-2' YEAR TO MONTH"),
    "ai": (t.Array(t.INT), "array(1, 2)"),
    "as_": (t.Array(t.STRING), "array('a', 'b')"),
    "aa": (t.Array(t.Array(t.INT)), "array(array(1), array(2))"),
    "msi": (t.Map(t.STRING, t.INT), "map('a', 1)"),
    "st": (
        t.Struct((t.StructField("a", t.INT), t.StructField("b", t.STRING))),
        "named_struct('a', 1, 'b', 'x')",
    ),
    "v": (t.VARIANT, "parse_json('{\"a\": 1}')"),
}


def _without_null(found: t.DataType) -> t.DataType:
    if isinstance(found, t.Array):
        return t.Array(_without_null(found.element), False)
    if isinstance(found, t.Map):
        return t.Map(found.key, found.value, False)
    if isinstance(found, t.Struct):
        return t.Struct(tuple(t.StructField(f.name, f.type, False) for f in found.fields))
    return found


COLUMNS = {name: Arg(found, True, name=name) for name, (found, _) in TABLE.items()}
# To Spark, parse_json may give NULL.
NOT_NULL = {name: Arg(_without_null(found), name == "v", name=name) for name, (found, _) in TABLE.items()}


def call_name(call: str) -> str:
    """The function that a call calls."""
    return call.partition("(")[0].lower()


def evaluate(call: str, columns: Mapping[str, Arg]) -> Arg:
    """What the catalogue says of a call.

    Raises:
        TypeProblem: what it says is that the call is wrong.
    """
    return _Reader(call, columns).whole()


class _Reader:
    def __init__(self, call: str, columns: Mapping[str, Arg]) -> None:
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(call.rstrip()):
            match = _TOKEN.match(call, position)
            assert match, f"cannot read {call[position:]!r}"
            assert match.lastgroup
            self._tokens.append((match.lastgroup, match.group(match.lastgroup)))
            position = match.end()
        self._columns = dict(columns)

    def whole(self) -> Arg:
        found = self._expression()
        if self._peek().lower() == "over":  # the window itself does not change a type
            return found
        assert not self._tokens, f"{self._tokens} is left"
        return found

    def _peek(self, ahead: int = 0) -> str:
        return self._tokens[ahead][1] if len(self._tokens) > ahead else ""

    def _mark(self, mark: str) -> None:
        assert self._tokens.pop(0)[1] == mark

    def _expression(self) -> Arg:
        kind, text = self._tokens.pop(0)
        if kind == "number":
            return _number(text)
        if kind == "text":
            return Arg(t.STRING, False, text[1:-1], True)
        if kind == "typed":
            found = {"d": t.DATE, "t": t.TIMESTAMP, "X": t.BINARY}[text[0]]
            return Arg(found, False, None, True)
        if kind == "span":
            unit = text.split("'")[2].strip().upper()
            return Arg(t.Interval(unit), False, None, True)
        if self._peek() == "(":
            return self._call(text.lower())
        if text.lower() == "null":
            return Arg(t.NULL, True, None, True)
        if text.lower() in ("true", "false"):
            return Arg(t.BOOLEAN, False, text.lower() == "true", True)
        if text not in self._columns:  # a unit: HOUR
            return Arg(t.STRING, False, text, True)
        return self._columns[text]

    def _call(self, name: str) -> Arg:
        self._mark("(")
        args: list[Arg] = []
        while self._peek() != ")":
            args.append(self._lambda(name, args) if self._is_lambda() else self._expression())
            if self._peek() == ",":
                self._mark(",")
        self._mark(")")
        if self._peek() == "within":  # WITHIN GROUP (ORDER BY x): the value comes last
            self._tokens[:5] = []
            ordered = self._expression()
            if name not in ("listagg", "string_agg"):
                args.append(ordered)
            self._mark(")")
        return _apply(name, args)

    def _is_lambda(self) -> bool:
        if self._peek() != "(":
            return self._peek(1) == "->"
        close = next(i for i, (_, text) in enumerate(self._tokens) if text == ")")
        return self._peek(close + 1) == "->"

    def _lambda(self, name: str, args: Sequence[Arg]) -> Arg:
        names = []
        while self._peek() != "->":
            text = self._tokens.pop(0)[1]
            if text.isidentifier():
                names.append(text)
        self._mark("->")
        outer, known = self._columns, lambda_parameters(name, args)
        for parameter, arg in zip(names, known, strict=False):
            self._columns = {**self._columns, parameter: replace(arg, name=parameter)}
        body = self._expression()
        self._columns = outer
        return body


def _number(text: str) -> Arg:
    digits = re.match(r"-?[\d.]+", text)
    assert digits
    suffix, value = text[digits.end() :].upper(), digits.group()
    if suffix:
        whole = int(value) if suffix in "LSY" else None
        return Arg(_SUFFIX[suffix], False, whole, True)
    if "." in value:
        before, after = value.lstrip("-").split(".")
        return Arg(t.Decimal(len(before.lstrip("0")) + len(after), len(after)), False, None, True)
    return Arg(t.INT, False, int(value), True)


def _apply(name: str, args: list[Arg]) -> Arg:
    function = lookup(name)
    if function is None:
        raise TypeProblem(f"unknown function {name}")
    count = len(args)
    if count < function.min_args or (function.max_args is not None and count > function.max_args):
        raise TypeProblem(f"{name} takes {function.min_args} to {function.max_args} arguments, not {count}")
    constant = bool(args) and all(arg.is_literal for arg in args) and function.deterministic
    return Arg(function.returns(args), function.nullable(args), None, constant and not function.aggregate)
