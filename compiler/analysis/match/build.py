"""Puts the operator of a MATCH_RECOGNIZE together, for both front ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlglot import exp

from compiler.analysis.builder import Builder
from compiler.analysis.match.binder import PatternBinder
from compiler.analysis.match.terms import Conditions, Reads, TermProblem, measure
from compiler.analysis.places import tree_span
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.frozen import frozen
from compiler.jobplan.operators.match import AnyTerm, Condition, Order, Output, Skip
from compiler.plan import types as t
from compiler.plan.expr import Column, Expr
from compiler.plan.node import Node
from compiler.plan.operators.match import Match
from compiler.plan.operators.match_expr import Navigated
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field
from compiler.syntax.fragment import Fragment
from compiler.syntax.patterns import ParsedPattern

T = TypeVar("T")

_DEFAULT_SKIP = Skip("to_next_row")


@frozen(slots=True)
class Named:
    """An expression of DEFINE or MEASURES under its variable or name."""

    name: str
    span: Span
    tree: exp.Expr
    fragment: Fragment


@frozen(slots=True)
class Sorting:
    """A column of ORDER BY, and where it is written."""

    field: Field
    descending: bool
    span: Span


@frozen(slots=True)
class Clauses:
    """What a MATCH_RECOGNIZE says, with its names looked up and its expressions still to be bound.

    Args:
        order: ORDER BY; the event time has to come first.
        skip: AFTER MATCH SKIP, or None if it was left out.
        within_ms: WITHIN in milliseconds.
    """

    keys: tuple[Field, ...]
    order: tuple[Sorting, ...]
    pattern: ParsedPattern
    skip: Skip | None
    within_ms: int | None
    defines: tuple[Named, ...]
    measures: tuple[Named, ...]


def build_match(builder: Builder, node: Node, clauses: Clauses, span: Span) -> Node:
    """The operator over its input.

    Raises:
        DiagnosticError: all that is wrong with its clauses.
    """
    time = _time_column(node, clauses.order, span)
    if not node.changelog.is_append:
        raise DiagnosticError(
            Diagnostic(
                codes.NOT_YET_STREAMING,
                "MATCH_RECOGNIZE over a stream of changes",
                span,
                cause="a match that has been given out cannot be taken back when one of its rows changes",
                fix="match over the rows that the changes are made of",
            )
        )
    variables = {lower: name for lower, (name, _) in clauses.pattern.variables.items()}
    reads = Reads()
    found: list[Diagnostic] = []

    def binder(named: Named, clause: str) -> PatternBinder:
        return PatternBinder(node.schema, variables, time, named.fragment, clause)

    def condition(named: Named) -> Condition:
        variable = variables.get(named.name.lower())
        if variable is None:
            raise _no_such_variable(named, list(variables.values()))
        bound = binder(named, "DEFINE").condition(named.tree, f"the condition of `{variable}`")
        return Condition(variable, _term(named, lambda: Conditions(variable, reads).term(bound)))

    outputs: dict[AnyTerm, Output] = {}
    rowtimes: list[str] = []

    def measured(named: Named) -> NamedExpr:
        bound = binder(named, "MEASURES").bind(named.tree)
        if _is_rowtime(bound, time):
            rowtimes.append(named.name)
        return NamedExpr(named.name, _term(named, lambda: measure(bound, reads, outputs)))

    _distinct(clauses.defines, "DEFINE", found)
    conditions = _each(condition, clauses.defines, found)
    _distinct(clauses.measures, "MEASURES", found)
    measures = _each(measured, clauses.measures, found)
    _no_key_twice(clauses, found)
    if found:
        raise DiagnosticError(*found)
    return Match(
        builder.uid("match", clauses.pattern.span),
        node,
        keys=tuple(key.name for key in clauses.keys),
        time_column=time.name,
        order=tuple(Order(o.field.name, o.descending, not o.descending) for o in clauses.order[1:]),
        reads=tuple(reads.items),
        pattern=clauses.pattern.pattern,
        conditions=tuple(conditions),
        skip=clauses.skip or _DEFAULT_SKIP,
        skip_given=clauses.skip is not None,
        within_ms=clauses.within_ms,
        unbounded_allowed=builder.options.allow_unbounded,
        outputs=tuple(outputs.values()),
        measures=tuple(measures),
        rowtimes=tuple(rowtimes),
    )


def _time_column(node: Node, order: Sequence[Sorting], span: Span) -> Field:
    """The event time by which the rows are ordered."""
    times = [f"`{f.name}`" for f in node.schema if f.is_event_time]
    fix = f"begin with ORDER BY {times[0]}" if times else "declare WATERMARK FOR in the source"
    cause = "rows come out of order, and are matched once the watermark says that none is missing"
    if not node.is_stream:
        message = "MATCH_RECOGNIZE over a table that is no stream"
        raise DiagnosticError(
            Diagnostic(codes.MATCH_ORDER, message, span, fix="match over a source with a watermark")
        )
    if not order:
        message = "MATCH_RECOGNIZE has no ORDER BY"
        raise DiagnosticError(Diagnostic(codes.MATCH_ORDER, message, span, cause=cause, fix=fix))
    first = order[0]
    if not first.field.is_event_time:
        message = f"`{first.field.name}` is not an event time"
        raise DiagnosticError(Diagnostic(codes.MATCH_ORDER, message, first.span, cause=cause, fix=fix))
    if first.descending:
        message = "a stream cannot be read from its end"
        raise DiagnosticError(Diagnostic(codes.MATCH_ORDER, message, first.span, fix="remove DESC"))
    for other in order[1:]:
        if not t.is_atomic(other.field.type) or other.field.type == t.VARIANT:
            message = f"rows cannot be sorted by a column of type {other.field.type}"
            raise DiagnosticError(Diagnostic(codes.MATCH_ORDER, message, other.span))
    return first.field


def _term(named: Named, work: Callable[[], T]) -> T:
    try:
        return work()
    except TermProblem as problem:
        span = tree_span(named.tree, named.fragment)
        raise DiagnosticError(
            Diagnostic(codes.MATCH_EXPRESSION, str(problem), span, fix=problem.fix)
        ) from problem


def _each(work: Callable[[Named], T], items: Sequence[Named], found: list[Diagnostic]) -> list[T]:
    done: list[T] = []
    for item in items:
        try:
            done.append(work(item))
        except DiagnosticError as error:
            found.extend(error.diagnostics)
    return done


def _is_rowtime(expr: Expr, time: Field) -> bool:
    # Only MATCH_ROWTIME is not NULL: any other value of a row may be that of none.
    return (
        isinstance(expr, Navigated) and not expr.nullable and expr.arg == Column(time.type, False, time.name)
    )


def _no_such_variable(named: Named, names: list[str]) -> DiagnosticError:
    return DiagnosticError(
        Diagnostic(
            codes.PATTERN_VARIABLE,
            f"the pattern has no variable `{named.name}`",
            named.span,
            cause=f"its variables are {', '.join(names)}",
            fix=did_you_mean(named.name, names) or "remove its condition, or add it to PATTERN",
        )
    )


def _distinct(items: Sequence[Named], clause: str, found: list[Diagnostic]) -> None:
    first: dict[str, Named] = {}
    for item in items:
        other = first.setdefault(item.name.lower(), item)
        if other is not item:
            code = codes.DUPLICATE_NAME if clause == "DEFINE" else codes.DUPLICATE_COLUMN
            message = f"{clause} has `{item.name}` twice"
            related = (Label(other.span, "the first is here"),)
            found.append(Diagnostic(code, message, item.span, fix="rename one of the two", related=related))


def _no_key_twice(clauses: Clauses, found: list[Diagnostic]) -> None:
    keys = {key.name.lower() for key in clauses.keys}
    for item in clauses.measures:
        if item.name.lower() in keys:
            message = f"`{item.name}` is a column of PARTITION BY already, and comes out with every match"
            fix = "remove the measure, or rename it"
            found.append(Diagnostic(codes.DUPLICATE_COLUMN, message, item.span, fix=fix))
