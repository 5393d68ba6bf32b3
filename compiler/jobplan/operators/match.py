"""MATCH_RECOGNIZE: the pattern, and what decides whether a row is part of it.

All that concerns one row alone is a column that Spark computes before the operator (`inputs_`); what looks
back over the rows of a possible match is a `Term`, a small typed program that the runtime evaluates over
those columns. Measures are Spark SQL over the values that a match hands out.
"""

from __future__ import annotations

from typing import Literal as OneOf

from msgspec import Struct

from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.base import Item, JobOperator

# --- patterns ---------------------------------------------------------------


class Pattern(Struct, frozen=True, tag_field="kind"):
    """Base of the parts of a pattern."""


class Variable(Pattern, frozen=True, tag="variable"):
    """One row that meets the variable's condition."""

    name: str


class Sequence(Pattern, frozen=True, tag="sequence"):
    """One part after the other, without a row between them."""

    parts: tuple[AnyPattern, ...]


class Choice(Pattern, frozen=True, tag="choice"):
    """One of several parts; of two that end with the same row the first counts."""

    options: tuple[AnyPattern, ...]


class Repeat(Pattern, frozen=True, tag="repeat"):
    """A part several times; `most` is None if there is no limit.

    A greedy repetition is left only at a row that could not begin another round. Exact counts and `?` leave
    nothing to be greedy about: both ways are followed, and the match that ends first counts.
    """

    part: AnyPattern
    least: int
    most: int | None
    greedy: bool

    @property
    def is_greedy_loop(self) -> bool:
        """Whether a row that the part takes may not be taken by what follows."""
        return self.greedy and self.least != self.most and (self.least, self.most) != (0, 1)


AnyPattern = Variable | Sequence | Choice | Repeat


# --- conditions -------------------------------------------------------------

Anchor = OneOf["first", "last"]

ALL_ROWS = ""
"""The variable of a column without one: every row of the match."""


class Term(Struct, frozen=True, tag_field="kind"):
    """Base of the parts of a condition. `type` is Spark DDL; times and intervals are whole microseconds."""


class Constant(Term, frozen=True, tag="constant"):
    """A value that is the same for every row."""

    value: str | int | float | bool | None
    type: str


class Navigation(Term, frozen=True, tag="navigation"):
    """A column of the row that is `offset` rows of `variable` away from its first or last.

    If there is no such row, the value is that of `missing` in the current row, or NULL without one.
    """

    column: str
    variable: str
    anchor: Anchor
    offset: int
    type: str
    missing: str | None = None


class Fold(Term, frozen=True, tag="fold"):
    """An aggregate over the rows of a variable so far; `column` is None for count(*)."""

    function: str
    column: str | None
    variable: str
    type: str


class Apply(Term, frozen=True, tag="apply"):
    """An operator or a function of `TERM_FUNCTIONS` over other terms."""

    function: str
    args: tuple[AnyTerm, ...]
    type: str


AnyTerm = Constant | Navigation | Fold | Apply

FOLDS = ("count", "sum", "avg", "min", "max")
"""Aggregates over the rows of a variable."""

TERM_FUNCTIONS = (
    *("AND", "OR", "NOT", "=", "<>", "<", "<=", ">", ">=", "<=>", "BETWEEN", "IN"),
    *("IS NULL", "IS NOT NULL", "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE"),
    *("+", "-", "*", "/", "%", "DIV", "NEG", "||"),
    *("case", "cast", "abs", "coalesce", "greatest", "least", "nullif", "if", "ifnull", "nvl"),
    *("isnull", "isnotnull"),
)
"""What the runtime can compute across rows; all else has to concern one row."""


class Condition(Struct, frozen=True):
    """When a row may be `variable`; a variable without a condition takes every row."""

    variable: str
    term: AnyTerm


class Output(Struct, frozen=True):
    """A value that a match hands out: `name` is the column in which `measures` find it."""

    name: str
    term: AnyTerm


# --- the operator -----------------------------------------------------------

SkipMode = OneOf["past_last_row", "to_next_row", "to_first", "to_last"]


class Skip(Struct, frozen=True):
    """Where the search goes on after a match."""

    mode: SkipMode
    variable: str | None = None


class Order(Struct, frozen=True):
    """A further sort column, for rows of the same time."""

    column: str
    descending: bool
    nulls_first: bool


class Match(JobOperator, frozen=True, tag="match"):
    """Finds the pattern in the rows of each key, in the order of their event time.

    `reads` are the columns that the matcher sees, computed from the input; `outputs` the values that a match
    gives, and `measures` the columns computed from those. `key_columns` and `time_column` are columns of
    the input. State is kept in `buckets` parts, by hash of the key. A match ends before `within_ms` after
    its first row.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    key_columns: tuple[str, ...]
    time_column: str
    delay_ms: int | None
    order: tuple[Order, ...]
    reads: tuple[Item, ...]
    pattern: AnyPattern
    conditions: tuple[Condition, ...]
    skip: Skip
    within_ms: int | None
    outputs: tuple[Output, ...]
    measures: tuple[Item, ...]
    buckets: int
    rowtimes: tuple[str, ...] = ()

    def describe(self) -> str:
        within = f" within {format_ms(self.within_ms)}" if self.within_ms is not None else ""
        skip = self.skip.mode.replace("_", " ") + (f" {self.skip.variable}" if self.skip.variable else "")
        return f"({spell(self.pattern)}){within} over {self.time_column} skip {skip}"

    def edge(self, index: int) -> str:
        return f"exchange hash({', '.join(self.key_columns)})"


def spell(pattern: AnyPattern) -> str:
    """A pattern as it is written."""
    match pattern:
        case Variable(name=name):
            return name
        case Sequence(parts=parts):
            return " ".join(f"({spell(part)})" if isinstance(part, Choice) else spell(part) for part in parts)
        case Choice(options=options):
            return " | ".join(spell(option) for option in options)
        case Repeat(part=part, least=least, most=most, greedy=greedy):
            inner = spell(part) if isinstance(part, Variable) else f"({spell(part)})"
            known = {(0, None): "*", (1, None): "+", (0, 1): "?", (least, least): f"{{{least}}}"}
            bounds = f"{{{least},{'' if most is None else most}}}"
            return inner + known.get((least, most), bounds) + ("" if greedy else "?")
