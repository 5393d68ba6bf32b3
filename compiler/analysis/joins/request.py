"""A join as it is asked for, and its two sides once their names have been kept apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from compiler.analysis.builder import Builder
from compiler.analysis.scope import Part, Scope, Visible
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Column, Expr, Op, conjunction
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr

JoinForm = Literal["interval", "window", "temporal", "lookup"]

Rows = tuple[Node, Scope]
"""A join's operator, and the names that can be seen above it."""


def _nothing_more(_scope: Scope, _wanted: Callable[[Expr], bool]) -> list[Expr]:
    return []


@frozen(slots=True)
class AsOf:
    """FOR SYSTEM_TIME AS OF: the time of the left side at which the right side is read."""

    time: Callable[[Scope], Expr]
    span: Span


@frozen(slots=True)
class JoinRequest:
    """What a front end says of a join.

    Args:
        left: the rows so far.
        scope: their names.
        right: what is joined.
        name: alias of the right side.
        kind: inner, left, right, full, semi, anti or cross.
        condition: binds ON over both sides; gives None if there is none.
        span: where the join is written.
        using: columns that both sides have, instead of a condition.
        as_of: the time at which the right side is read, if it is read at one.
        form: the kind of join that YAML names; SQL tells it by the condition.
        more: takes those parts of WHERE that are wanted into the condition of an inner join.
        clause: where the condition stands.
    """

    left: Node
    scope: Scope
    right: Node
    name: str
    kind: str
    condition: Callable[[Scope], Expr | None]
    span: Span
    using: tuple[str, ...] = ()
    as_of: AsOf | None = None
    form: JoinForm | None = None
    more: Callable[[Scope, Callable[[Expr], bool]], list[Expr]] = _nothing_more
    clause: str = "ON"

    def refuse_changes(self) -> None:
        """Refuses a left side whose rows are taken back.

        Raises:
            DiagnosticError: it is one (HR345).
        """
        if not self.left.changelog.is_append:
            raise self.error(
                codes.CHANGES_INPUT,
                "the left side of this join takes rows back",
                cause="what was joined with such a row would have to be taken back too",
                fix="join before the rows are aggregated",
            )

    def error(
        self, code: codes.Code, message: str, cause: str | None = None, fix: str | None = None
    ) -> DiagnosticError:
        """A diagnostic at the join, ready to be raised."""
        return DiagnosticError(Diagnostic(code, message, self.span, cause=cause, fix=fix))


@frozen(slots=True)
class Sides:
    """Two sides whose columns have different names.

    Args:
        left, right: the operators; the right one gives its columns under names that the left has not.
        parts: the names of the left side's columns.
        part: those of the right side's.
        predicate: USING or ON, or None.
        columns: all columns of the right side, those that USING hides too.
    """

    left: Node
    right: Node
    parts: tuple[Part, ...]
    part: Part
    predicate: Expr | None
    columns: tuple[Visible, ...]

    @property
    def both(self) -> Scope:
        """The names of both sides."""
        return Scope((*self.parts, self.part))

    def shown(self, column: str) -> str:
        """A column as the user can name it: `o.order_time`."""
        for part in (*self.parts, self.part):
            for visible in part.columns:
                if visible.field.name == column:
                    return f"{part.alias}.{visible.name}" if part.alias else visible.name
        return column

    def column_of(self, name: str) -> str:
        """The column of the right operator that the user calls `name`."""
        wanted = name.lower()
        return next(c.field.name for c in self.columns if c.name.lower() == wanted)

    def above(self, node: Node, semi: bool = False) -> Scope:
        """The names that can be seen above the join `node`, with what has become of the columns."""
        parts = self.parts if semi else (*self.parts, self.part)
        return Scope(
            tuple(
                replace(
                    part,
                    columns=tuple(
                        Visible(c.name, node.schema.get(c.field.name) or c.field) for c in part.columns
                    ),
                )
                for part in parts
            )
        )


def prepare(builder: Builder, request: JoinRequest) -> Sides:
    """Keeps the names of both sides apart and binds USING or ON.

    Raises:
        DiagnosticError: a mistake in the condition.
    """
    right, visible = _apart(builder, request)
    part = Part(request.name, visible)
    if not request.using:
        predicate = request.condition(Scope((*request.scope.parts, part)))
        return Sides(request.left, right, request.scope.parts, part, predicate, visible)
    if request.kind == "full":
        raise request.error(
            codes.UNSUPPORTED_SYNTAX,
            "USING with a full outer join is not supported",
            cause="its one column would be that of whichever side has a row",
            fix="write ON …, and coalesce(a.key, b.key) in SELECT",
        )
    equal = [_using(request.scope, part, column, request.span) for column in request.using]
    # The column stays that of the side that always has a row.
    hidden = {column.lower() for column in request.using}
    parts = request.scope.parts
    if request.kind == "right":
        parts = tuple(_without(p, hidden) for p in parts)
    else:
        part = _without(part, hidden)
    return Sides(request.left, right, parts, part, conjunction(equal), visible)


def _without(part: Part, hidden: set[str]) -> Part:
    return replace(part, columns=tuple(c for c in part.columns if c.name.lower() not in hidden))


def _apart(builder: Builder, request: JoinRequest) -> tuple[Node, tuple[Visible, ...]]:
    """Renames the right side's columns that the left has too; users go on naming them as before."""
    taken = {f.name.lower() for f in request.left.schema}
    items: list[NamedExpr] = []
    visible: list[tuple[str, str]] = []
    for field in request.right.schema:
        new = field.name
        while new.lower() in taken:
            # Not the alias: what state is kept under must not change with the spelling of a query.
            new = f"right__{new}"
        taken.add(new.lower())
        items.append(NamedExpr(new, Column(field.type, field.nullable, field.name)))
        visible.append((field.name, new))
    node = builder.project(request.right, items, request.span)
    fields = {f.name: f for f in node.schema}
    return node, tuple(Visible(shown, fields[new]) for shown, new in visible)


def _using(scope: Scope, part: Part, name: str, span: Span) -> Expr:
    left = scope.resolve((name,), span)
    right = Scope((part,)).resolve((name,), span)
    if t.common_type(left.type, right.type) is None:
        raise DiagnosticError(
            Diagnostic(
                codes.TYPE_MISMATCH,
                f"`{name}` is {left.type} on one side and {right.type} on the other",
                span,
            )
        )
    return Op(t.BOOLEAN, left.nullable or right.nullable, "=", (left, right))
