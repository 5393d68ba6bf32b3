"""Takes conditions and measures apart: what concerns one row is a column, what looks across rows a term."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.analysis.match.binder import strip
from compiler.frozen import frozen
from compiler.jobplan.operators.match import (
    ALL_ROWS,
    TERM_FUNCTIONS,
    Anchor,
    AnyTerm,
    Apply,
    Constant,
    Fold,
    Navigation,
    Output,
)
from compiler.plan import types as t
from compiler.plan.expr import (
    Call,
    Case,
    Cast,
    Column,
    Expr,
    FieldAccess,
    Literal,
    Op,
    columns_of,
    transform,
    walk,
)
from compiler.plan.operators.match_expr import Folded, Navigated
from compiler.plan.operators.project import NamedExpr

_EPOCH = Call(t.TIMESTAMP, False, "timestamp_micros", (Literal(t.INT, False, "0", 0),))
# NULL if an operand is, whatever the others are.
_STRICT_OPS = frozenset("= <> < <= > >= + - * / % DIV NEG NOT LIKE ILIKE RLIKE || & | ^ ~".split())


class TermProblem(Exception):
    """The expression cannot be computed across rows; the text is the message."""

    def __init__(self, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass
class Reads:
    """The columns that the matcher sees, computed from the input by Spark: each once."""

    items: list[NamedExpr] = field(default_factory=list)
    _known: dict[Expr, str] = field(default_factory=dict)

    def add(self, expr: Expr) -> str:
        """The name of the column that holds an expression over one row."""
        encoded = encode(expr)
        name = self._known.get(encoded)
        if name is None:
            name = self._known[encoded] = f"__read_{len(self.items)}"
            self.items.append(NamedExpr(name, encoded))
        return name


# --- values on their way through the matcher ---------------------------------


def encode(expr: Expr) -> Expr:
    """A value as the matcher keeps it: times, dates and spans of time as whole numbers.

    Raises:
        TermProblem: it keeps no values of that type.
    """
    if isinstance(expr.type, t.Timestamp):
        return Call(t.BIGINT, expr.nullable, "unix_micros", (expr,))
    if expr.type == t.DATE:
        return Call(t.INT, expr.nullable, "unix_date", (expr,))
    if _is_span(expr.type):
        later = Op(t.TIMESTAMP, expr.nullable, "+", (_EPOCH, expr))
        return Call(t.BIGINT, expr.nullable, "unix_micros", (later,))
    if isinstance(expr.type, t.Interval) or expr.type in (t.VARIANT, t.CALENDAR_INTERVAL):
        raise TermProblem(f"a value of type {expr.type} cannot be kept from row to row")
    if expr.type == t.NULL:
        return Cast(t.BOOLEAN, True, expr)
    return expr


def decode(name: str, type_: t.DataType) -> Expr:
    """The value of a column that `encode` made."""
    if isinstance(type_, t.Timestamp):
        return Call(type_, True, "timestamp_micros", (Column(t.BIGINT, True, name),))
    if type_ == t.DATE:
        return Call(type_, True, "date_from_unix_date", (Column(t.INT, True, name),))
    if _is_span(type_):
        later = Call(t.TIMESTAMP, True, "timestamp_micros", (Column(t.BIGINT, True, name),))
        return Cast(type_, True, Op(t.DAY_TIME, True, "-", (later, _EPOCH)))
    if type_ == t.NULL:
        return Column(t.BOOLEAN, True, name)
    return Column(type_, True, name)


def _is_span(type_: t.DataType) -> bool:
    return isinstance(type_, t.Interval) and "MONTH" not in type_.unit and "YEAR" not in type_.unit


# --- measures ----------------------------------------------------------------


def measure(expr: Expr, reads: Reads, outputs: dict[AnyTerm, Output]) -> Expr:
    """A measure as an expression over what a match hands out; `reads` and `outputs` gain what it needs.

    Raises:
        TermProblem: a part of it cannot be handed out.
    """

    def handed_out(part: Expr) -> Expr | None:
        if not isinstance(part, (Navigated, Folded)):
            return None
        term = _navigation(part, reads, None) if isinstance(part, Navigated) else _fold(part, reads)
        output = outputs.setdefault(term, Output(f"__out_{len(outputs)}", term))
        return decode(output.name, part.type)

    return transform(expr, handed_out)


# --- conditions --------------------------------------------------------------


@frozen
class Conditions:
    """Makes terms of the condition of one variable.

    Args:
        variable: whose condition it is; its last row is the current one.
        reads: gains the columns that the condition needs.
    """

    variable: str
    reads: Reads

    def term(self, expr: Expr) -> AnyTerm:
        """The term of an expression.

        Raises:
            TermProblem: it is computed across rows and the runtime does not know how.
        """
        whole = self._one_row(expr)
        if whole is not None:
            return whole
        if isinstance(expr, Folded):
            return _fold(expr, self.reads)
        if isinstance(expr, Op):
            return self._operator(expr)
        if isinstance(expr, Case):
            return self._case(expr)
        if isinstance(expr, Cast):
            return self._cast(expr)
        if isinstance(expr, Call):
            return self._call(expr)
        raise TermProblem("a field of a STRUCT that depends on several rows cannot be computed")

    def _one_row(self, expr: Expr) -> AnyTerm | None:
        """The term of what reads one row only, or none."""
        parts = list(walk(expr))
        if any(isinstance(part, Folded) for part in parts):
            return None
        navigated = [part for part in parts if isinstance(part, Navigated)]
        if not navigated:
            constant = _constant(expr)
            return constant or Navigation(self.reads.add(expr), ALL_ROWS, "last", 0, expr.type.sql)
        places = {self._place(part) for part in navigated}
        if len(places) > 1:
            return None
        (place,) = places
        variable, anchor, offset = place
        inner = strip(expr)
        row = Navigated(inner.type, True, inner, variable, anchor, offset)
        missing = None if place == (ALL_ROWS, "last", 0) or _is_strict(inner) else _over_nothing(inner)
        return _navigation(row, self.reads, missing)

    def _place(self, part: Navigated) -> tuple[str, Anchor, int]:
        """Which row is meant; the current one has one name only."""
        if part.place == (self.variable, "last", 0):
            return ALL_ROWS, "last", 0
        return part.place

    def _terms(self, exprs: list[Expr]) -> tuple[AnyTerm, ...]:
        return tuple(self.term(expr) for expr in exprs)

    def _operator(self, expr: Op) -> AnyTerm:
        args = list(expr.args)
        if expr.op not in TERM_FUNCTIONS:
            raise _not_across(f"`{expr.op}`")
        if expr.op in ("AND", "OR", "NOT"):
            args = [_coerced(arg, t.BOOLEAN) for arg in args]
        elif expr.op in _COMPARED:
            args = _alike(args)
        elif expr.op in _ARITHMETIC:
            args = _operands(expr.op, expr.type, args)
        elif expr.op == "||" and any(arg.type != t.STRING for arg in args):
            raise _not_across("`||` of anything but two STRINGs")
        return Apply(expr.op, self._terms(args), expr.type.sql)

    def _case(self, expr: Case) -> AnyTerm:
        args: list[Expr] = []
        for when, then in expr.branches:
            args += [when, _coerced(then, expr.type)]
        args.append(_coerced(expr.default or Literal(t.NULL, True, "NULL", None), expr.type))
        return Apply("case", self._terms(args), expr.type.sql)

    def _cast(self, expr: Cast) -> AnyTerm:
        if expr.arg.type.sql == expr.type.sql:
            return self.term(expr.arg)
        if expr.attempt or not (t.is_numeric(expr.arg.type) and t.is_numeric(expr.type)):
            raise _not_across(f"a cast from {expr.arg.type} to {expr.type}")
        return Apply("cast", (self.term(expr.arg),), expr.type.sql)

    def _call(self, expr: Call) -> AnyTerm:
        if expr.name not in TERM_FUNCTIONS:
            raise _not_across(f"`{expr.name}`")
        args = list(expr.args)
        if expr.name == "if":
            args = [args[0], *(_coerced(arg, expr.type) for arg in args[1:])]
        elif expr.name == "nullif":
            args = _alike(args)
        elif expr.name not in ("isnull", "isnotnull"):
            args = [_coerced(arg, expr.type) for arg in args]
        return Apply(expr.name, self._terms(args), expr.type.sql)


_COMPARED = frozenset(("=", "<>", "<", "<=", ">", ">=", "<=>", "BETWEEN", "IN"))
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "DIV"))


def _not_across(what: str) -> TermProblem:
    return TermProblem(
        f"{what} cannot be computed from several rows of a match",
        "compute it from one row, which any function may do, or in the model below",
    )


def _navigation(part: Navigated, reads: Reads, missing: Expr | None) -> Navigation:
    column = reads.add(part.arg)
    other = reads.add(missing) if missing is not None else None
    return Navigation(column, part.variable, part.anchor, part.offset, part.type.sql, other)


def _fold(part: Folded, reads: Reads) -> Fold:
    column = None if part.arg is None else reads.add(_summand(part))
    return Fold(part.name, column, part.variable, part.type.sql)


def _summand(part: Folded) -> Expr:
    assert part.arg is not None
    # An average is summed up in its own type, as Spark does: DOUBLE, or a wider decimal.
    wants = (
        part.type if part.name == "avg" or (part.name == "sum" and part.type == t.DOUBLE) else part.arg.type
    )
    return part.arg if wants.sql == part.arg.type.sql else Cast(wants, True, part.arg)


def _constant(expr: Expr) -> Constant | None:
    """A literal that JSON can hold, be it cast to another type of number."""
    if isinstance(expr, Cast) and isinstance(expr.arg, Literal) and t.is_integral(expr.arg.type):
        value = expr.arg.value
        if isinstance(value, int) and (expr.type == t.DOUBLE or t.is_integral(expr.type)):
            return Constant(float(value) if expr.type == t.DOUBLE else value, expr.type.sql)
    if not isinstance(expr, Literal):
        return None
    if isinstance(expr.type, t.Decimal):
        return Constant(expr.sql, expr.type.sql)
    if _is_span(expr.type) and isinstance(expr.value, int):
        return Constant(expr.value * 1000, expr.type.sql)
    plain = expr.type in (t.STRING, t.BOOLEAN, t.DOUBLE, t.NULL) or t.is_integral(expr.type)
    return Constant(expr.value, expr.type.sql) if plain else None


def _is_strict(expr: Expr) -> bool:
    """Whether it is NULL if all its columns are."""
    if isinstance(expr, Column):
        return True
    if isinstance(expr, (Cast, FieldAccess)):
        return _is_strict(expr.arg)
    if isinstance(expr, Op) and expr.op in _STRICT_OPS:
        return any(_is_strict(arg) for arg in expr.args)
    return False


def _over_nothing(expr: Expr) -> Expr:
    """The expression for a row that is not there: all its columns are NULL."""

    def null(part: Expr) -> Expr | None:
        if isinstance(part, Column) and part.name in columns_of(expr):
            return Cast(part.type, True, Literal(t.NULL, True, "NULL", None))
        return None

    return transform(expr, null)


# --- implicit casts ----------------------------------------------------------


def _coerced(expr: Expr, wanted: t.DataType) -> Expr:
    """The expression as another type, as Spark would cast it by itself."""
    return expr if expr.type.sql == wanted.sql else Cast(wanted, True, expr)


def _alike(args: list[Expr]) -> list[Expr]:
    found: t.DataType = t.NULL
    for arg in args:
        common = t.common_type(found, arg.type)
        assert common is not None  # checked when the expression was bound
        found = common
    if not (t.is_numeric(found) or t.is_temporal(found) or _is_span(found)) and found not in _COMPARABLE:
        raise _not_across(f"a comparison of {found}")
    return [_coerced(arg, found) for arg in args]


_COMPARABLE = (t.STRING, t.BOOLEAN, t.BINARY, t.NULL)


def _operands(op: str, result: t.DataType, args: list[Expr]) -> list[Expr]:
    """Both operands in the types in which Spark computes; times and spans are whole numbers by now."""
    types = [arg.type for arg in args]
    if all(isinstance(type_, t.Timestamp) or _is_span(type_) for type_ in types) and op in ("+", "-"):
        return args
    if not all(t.is_numeric(type_) or type_ == t.NULL for type_ in types):
        raise _not_across(f"`{op}` of {types[0]} and {types[1]}")
    if isinstance(result, t.Decimal) or (
        op == "DIV" and any(isinstance(type_, t.Decimal) for type_ in types)
    ):
        return [_coerced(arg, t.as_decimal(arg.type) or result) for arg in args]
    if op == "DIV":
        return [_coerced(arg, t.BIGINT) for arg in args]
    return [_coerced(arg, result) for arg in args]
