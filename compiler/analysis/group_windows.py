"""Windows in GROUP BY: Flink's group windows and Spark's `window()`, as the same nodes as those in FROM.

`GROUP BY TUMBLE(ts, INTERVAL '5' MINUTES)`, `HOP(ts, slide, size)`, `SESSION(ts, gap)`, `window(ts, '5
minutes')` and `session_window(ts, '5 minutes')`. The window lies over the rows that WHERE lets pass, and a
session over those of one value of all other keys. SELECT and HAVING name its bounds by TUMBLE_START(ts,
size) and its like, or as fields of `window`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.analysis.builder import identity
from compiler.analysis.scope import Part, Scope
from compiler.analysis.table_arguments import function_name
from compiler.analysis.window_assign import Places, Sizes, assign_session, assign_window
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Call, Column, Expr, Literal
from compiler.plan.expr_sql import quote_string
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Field
from compiler.syntax.durations import parse_duration_ms
from compiler.syntax.intervals import interval_literal

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder
    from compiler.analysis.select import QueryBinder

# The durations of each call behind its time, those in brackets optional.
_DURATIONS: Final = {
    "tumble": ("size", "[offset]"),
    "hop": ("slide", "size", "[offset]"),
    "session": ("gap",),
    "window": ("size", "[slide]", "[offset]"),
    "session_window": ("gap",),
}
# Spark's windows are columns of these names, with fields `start` and `end`.
_STRUCTS: Final = frozenset({"window", "session_window"})
_PARTS: Final = {"start": START, "end": END, "rowtime": TIME}
AUXILIARY: Final = {
    f"{kind}_{part}": (kind, part) for kind in ("tumble", "hop", "session") for part in (*_PARTS, "proctime")
}
"""Flink's functions of a group's window: of which kind, and which part of it."""

# A key of a session that is computed; no name of a user's begins so.
_KEY = "__headrace_session_key_"


@frozen(slots=True)
class GroupWindow:
    """The window of a GROUP BY.

    Args:
        kind: the function that it was written as.
        time_column: the operator's column that it lies over.
        durations: in milliseconds, as they were written.
    """

    kind: str
    time_column: str
    durations: tuple[int, ...]

    @property
    def bounds(self) -> Expr:
        """Its start and end as a STRUCT, which stands for the window itself."""
        fields = (t.StructField("start", t.Timestamp(3), False), t.StructField("end", t.Timestamp(3), False))
        parts = (_text("start"), bound(START), _text("end"), bound(END))
        return Call(t.Struct(fields), False, "named_struct", parts)


def bound(name: str) -> Column:
    """A bound of the window as a column."""
    return Column(t.Timestamp(3), False, name)


def _text(value: str) -> Literal:
    return Literal(t.STRING, False, quote_string(value), value)


@frozen(slots=True)
class WindowScope(Scope):
    """The names of a SELECT that groups by a window: what its functions mean is known here alone."""

    window: GroupWindow

    def find(self, names: tuple[str, ...]) -> Expr | None:
        """As without a window, which gives way to a column of its name."""
        # A method of a class with slots cannot say super().
        return Scope.find(self, names) or self._of_window(names)

    def resolve(self, names: tuple[str, ...], span: Span) -> Expr:
        """As without a window; `window.start` and `window.end` are its bounds.

        Raises:
            DiagnosticError: no such column or field (HR201), or several (HR207).
        """
        is_column = self.part(names[0]) or any(c.name.lower() == names[0].lower() for c in self.columns())
        found = None if is_column else self._of_window(names)
        if found is None and not is_column and names[0].lower() == self.window.kind in _STRUCTS:
            message = f"`{names[0]}` has no field `{'.'.join(names[1:])}`"
            fix = "its fields are start and end"
            raise DiagnosticError(Diagnostic(codes.UNKNOWN_COLUMN, message, span, fix=fix))
        return found if found is not None else Scope.resolve(self, names, span)

    def _of_window(self, names: tuple[str, ...]) -> Expr | None:
        first, *rest = (name.lower() for name in names)
        if first != self.window.kind or first not in _STRUCTS or len(rest) > 1:
            return None
        if not rest:
            return self.window.bounds
        return bound(_PARTS[rest[0]]) if rest[0] in ("start", "end") else None


def assign_group_window(
    binder: QueryBinder, tree: exp.Select, node: Node, scope: Scope
) -> tuple[Node, Scope]:
    """Puts the window of a GROUP BY on the rows; without one, they and their names stay.

    Raises:
        DiagnosticError: a window that cannot be, or two of them.
    """
    clause = tree.args.get("group")
    parts = [_written_out(part, tree, scope) for part in clause.expressions] if clause is not None else []
    calls = [call for part in parts if (call := _window_call(part)) is not None]
    if not calls:
        return node, scope
    first, *others = calls
    if others:
        fix = "group the result of one by the other"
        raise binder.error(codes.GROUP_WINDOW, "GROUP BY has two windows", others[0], fix=fix)
    window, time = _read(binder, first, node, scope)
    places = Places(binder.span(first), binder.span(first.expressions[0]), binder.span(first))
    if any(node.schema.get(name) for name in (START, END, TIME)):
        scope = _without_bounds(scope)
    if window.kind in ("session", "session_window"):
        keys = [binder.expressions(scope, "GROUP BY").bind(part) for part in parts if part is not first]
        node, fields = _keyed(binder, node, keys, places.whole)
        node = assign_session(binder.builder, node, fields, time, window.durations[0], places)
    else:
        node = assign_window(binder.builder, node, time, _sizes(window), places)
    return node, WindowScope(scope.parts, window)


def bind_window_call(
    binder: ExpressionBinder, name: str, args: Sequence[exp.Expr], tree: exp.Expr
) -> Expr | None:
    """What a function of windows means in a SELECT that groups by one; None if `name` is none of them.

    Raises:
        DiagnosticError: GROUP BY has no such window (HR321).
    """
    if name not in AUXILIARY and name not in _DURATIONS and name != "window_time":
        return None
    scope = binder.scope
    if not isinstance(scope, WindowScope):
        raise binder.error(
            codes.GROUP_WINDOW,
            f"`{name.upper()}` is a function of a window in GROUP BY, and there is none",
            tree,
            fix="read FROM TUMBLE(TABLE t, DESCRIPTOR(ts), size), which adds window_start and window_end",
        )
    if name == "window_time":
        return _time_of(binder, scope, args, tree)
    kind, part = AUXILIARY.get(name, (name, ""))
    if part == "proctime":
        raise binder.error(
            codes.GROUP_WINDOW,
            f"`{name.upper()}` has no meaning: windows go by event time",
            tree,
            fix=f"use {kind.upper()}_ROWTIME",
        )
    if kind != scope.window.kind or _arguments(scope, kind, args) != scope.window:
        raise binder.error(
            codes.GROUP_WINDOW,
            f"`{name.upper()}` is of another window than that of GROUP BY",
            tree,
            fix="give both the same arguments",
        )
    return bound(_PARTS[part]) if part else scope.window.bounds


def _time_of(binder: ExpressionBinder, scope: WindowScope, args: Sequence[exp.Expr], tree: exp.Expr) -> Expr:
    if len(args) != 1 or binder.bind(args[0]) != scope.window.bounds:
        message = "`window_time` takes the window of GROUP BY"
        raise binder.error(codes.GROUP_WINDOW, message, tree, fix=f"write window_time({scope.window.kind})")
    return bound(TIME)


# --- reading a call ---------------------------------------------------------


def _written_out(part: exp.Expr, tree: exp.Select, scope: Scope) -> exp.Expr:
    """An item of SELECT that a key means by its ordinal or its alias, as far as one is named."""
    items = tree.expressions
    chosen: exp.Expr | None = None
    if isinstance(part, exp.Literal) and str(part.this).isdigit() and 0 < int(part.this) <= len(items):
        chosen = items[int(part.this) - 1]
    elif isinstance(part, exp.Column) and not part.table:
        name = part.name.lower()
        if not any(column.name.lower() == name for column in scope.columns()):
            chosen = next((i for i in items if isinstance(i, exp.Alias) and i.alias.lower() == name), None)
    if chosen is None:
        return part
    return chosen.this if isinstance(chosen, exp.Alias) else chosen


def _window_call(tree: exp.Expr) -> exp.Anonymous | None:
    is_call = isinstance(tree, exp.Anonymous) and function_name(tree) in _DURATIONS
    return tree if is_call and isinstance(tree, exp.Anonymous) else None


def _read(binder: QueryBinder, call: exp.Anonymous, node: Node, scope: Scope) -> tuple[GroupWindow, Field]:
    kind = function_name(call)
    window = _arguments(scope, kind, call.expressions)
    if window is None:
        names = ", ".join(("ts", *_DURATIONS[kind])).replace(", [", " [, ").replace("][, ", " [, ")
        raise binder.error(
            codes.WRONG_ARGUMENTS,
            f"{kind.upper()} in GROUP BY takes a column of FROM and lengths of time",
            call,
            fix=f"write {kind}({names}), with INTERVAL '5' MINUTES or '5 minutes'",
        )
    field = node.schema.get(window.time_column)
    assert field is not None
    return window, field


def _arguments(scope: Scope, kind: str, args: Sequence[exp.Expr]) -> GroupWindow | None:
    """The window that the arguments of a call describe; None if they are of another form."""
    names = _DURATIONS[kind]
    least = sum(not name.startswith("[") for name in names)
    if not args or not least <= len(args) - 1 <= len(names) or not isinstance(args[0], exp.Column):
        return None
    parts = tuple(part.name for part in args[0].parts)
    column = Scope.find(scope, parts) or _qualified(scope, parts)
    durations = [_milliseconds(arg) for arg in args[1:]]
    known = tuple(duration for duration in durations if duration is not None)
    if not isinstance(column, Column) or len(known) < len(durations):
        return None
    return GroupWindow(kind, column.name, known)


def _qualified(scope: Scope, names: tuple[str, ...]) -> Column | None:
    part = scope.part(names[0]) if len(names) == 2 else None
    found = [c.field for c in part.columns if c.name.lower() == names[1].lower()] if part is not None else []
    return Column(found[0].type, found[0].nullable, found[0].name) if found else None


def _milliseconds(tree: exp.Expr) -> int | None:
    if isinstance(tree, exp.Literal) and tree.args.get("is_string"):
        return parse_duration_ms(str(tree.this).lower().removeprefix("interval"))
    literal = interval_literal(tree) if isinstance(tree, exp.Interval) else None
    return literal.value if literal is not None and isinstance(literal.value, int) else None


def _sizes(window: GroupWindow) -> Sizes:
    named = dict(zip((name.strip("[]") for name in _DURATIONS[window.kind]), window.durations, strict=False))
    size = named["size"]
    slide = named.get("slide", size)
    return Sizes("tumble" if slide == size else "hop", size, slide, named.get("offset", 0))


def _without_bounds(scope: Scope) -> Scope:
    """Without the bounds of a window below, which give way to those of this one."""
    return Scope(
        tuple(
            Part(part.alias, tuple(c for c in part.columns if c.field.name.lower() not in (START, END, TIME)))
            for part in scope.parts
        )
    )


def _keyed(binder: QueryBinder, node: Node, keys: Sequence[Expr], span: Span) -> tuple[Node, list[Field]]:
    """The rows with a column for each key of their sessions."""
    computed = [key for key in dict.fromkeys(keys) if not isinstance(key, Column)]
    names = {key: f"{_KEY}{number}" for number, key in enumerate(computed)}
    if computed:
        items = [*identity(node.schema), *(NamedExpr(name, key) for key, name in names.items())]
        node = binder.builder.project(node, items, span)
    found = [node.schema.get(key.name if isinstance(key, Column) else names[key]) for key in keys]
    return node, [field for field in found if field is not None]
