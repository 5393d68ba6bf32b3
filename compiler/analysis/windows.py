"""TUMBLE and HOP in FROM, in every spelling: with and without TABLE( ), positional and named arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from compiler.analysis.scope import Scope
from compiler.diagnostics import codes
from compiler.plan import expr as scalar
from compiler.plan.node import Node
from compiler.plan.schema import Field
from compiler.syntax.dialect import MARK
from compiler.syntax.intervals import interval_literal, interval_problem

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

# Function -> the names of its arguments, in the order of the positional form; `offset` may be left out.
SIGNATURES: dict[str, tuple[str, ...]] = {
    "tumble": ("data", "timecol", "size", "offset"),
    "hop": ("data", "timecol", "slide", "size", "offset"),
}
_LATER = ("cumulate", "session")
_FORMS = {
    "tumble": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)",
    "hop": "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTES, INTERVAL '5' MINUTES)",
}


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function as it is written."""

    name: str
    tree: exp.Expr
    table: exp.Expr | None


def window_function(tree: exp.Expr) -> WindowCall | None:
    """The window function that an entry of FROM is, or None."""
    call = tree.this if isinstance(tree, exp.Table) else tree
    if isinstance(call, exp.Anonymous) and _name(call) == "table" and len(call.expressions) == 1:
        call = call.expressions[0]
    if not isinstance(call, exp.Anonymous) or _name(call) not in (*SIGNATURES, *_LATER):
        return None
    first = call.expressions[0] if call.expressions else None
    return WindowCall(_name(call), call, first.args["expression"] if isinstance(first, exp.Kwarg) else first)


def bind_window_function(binder: QueryBinder, call: WindowCall) -> Node:
    """Binds a window function.

    Raises:
        DiagnosticError: wrong arguments, or a column that is no event time.
    """
    if call.name in _LATER:
        message = f"{call.name.upper()} is not supported yet"
        raise binder.error(codes.NOT_YET_STREAMING, message, call.tree, fix="windows are TUMBLE and HOP")
    arguments = _arguments(binder, call)
    node = _input(binder, arguments["data"])
    column = _time_column(binder, call, node, arguments["timecol"])
    size = _milliseconds(binder, arguments["size"], "size")
    slide = _milliseconds(binder, arguments["slide"], "slide") if "slide" in arguments else size
    offset = _milliseconds(binder, arguments["offset"], "offset") if "offset" in arguments else 0
    shape: Literal["tumble", "hop"] = "hop" if call.name == "hop" else "tumble"
    sizes = binder.span(arguments.get("slide", arguments["size"])).to(binder.span(arguments["size"]))
    on = binder.span(arguments["timecol"].expressions[0])
    return binder.builder.window(node, shape, column, size, slide, offset, binder.span(call.tree), on, sizes)


def _name(call: exp.Anonymous) -> str:
    return str(call.this).removeprefix(MARK).lower()


def _arguments(binder: QueryBinder, call: WindowCall) -> dict[str, exp.Expr]:
    names = SIGNATURES[call.name]
    found: dict[str, exp.Expr] = {}
    for index, argument in enumerate(call.tree.expressions):
        if isinstance(argument, exp.Kwarg):
            name = argument.this.name.lower()
            value = argument.args["expression"]
        elif index < len(names):
            name, value = names[index], argument
        else:
            name, value = "", argument
        if name not in names or name in found:
            problem = (
                f"`{name}` is given twice"
                if name in found
                else f"`{name}` is no argument of it"
                if name
                else ""
            )
            raise _wrong(binder, call, problem or "there are too many arguments", argument)
        found[name] = value
    missing = [name for name in names if name not in found and name != "offset"]
    if missing:
        raise _wrong(binder, call, f"`{missing[0]}` is missing", call.tree)
    return found


def _wrong(binder: QueryBinder, call: WindowCall, problem: str, tree: exp.Expr) -> Exception:
    message = f"{call.name.upper()}: {problem}"
    return binder.error(codes.WRONG_ARGUMENTS, message, tree, fix=f"write {_FORMS[call.name]}")


def _input(binder: QueryBinder, tree: exp.Expr) -> Node:
    if isinstance(tree, exp.Anonymous) and _name(tree) == "table" and len(tree.expressions) == 1:
        tree = tree.expressions[0]
    if isinstance(tree, exp.Query):
        return binder.bind(tree.this if isinstance(tree, exp.Subquery) else tree)
    return binder.relation(tree).node


def _time_column(binder: QueryBinder, call: WindowCall, node: Node, tree: exp.Expr) -> Field:
    is_descriptor = (
        isinstance(tree, exp.Anonymous) and _name(tree) == "descriptor" and len(tree.expressions) == 1
    )
    if not is_descriptor or not isinstance(tree.expressions[0], exp.Column):
        raise _wrong(binder, call, "the second argument is DESCRIPTOR(column)", tree)
    name = tree.expressions[0]
    Scope.of(node.schema).resolve((name.name,), binder.span(name))
    field = node.schema.get(name.name)
    assert field is not None
    return field


def _milliseconds(binder: QueryBinder, tree: exp.Expr, what: str) -> int:
    literal: scalar.Literal | None = interval_literal(tree) if isinstance(tree, exp.Interval) else None
    if literal is None and isinstance(tree, exp.Interval):
        message, fix = interval_problem(tree)
        raise binder.error(codes.WRONG_VALUE, message, tree, fix=fix)
    if literal is None or not isinstance(literal.value, int):
        cause = "months differ in length" if literal is not None and literal.value is None else None
        raise binder.error(
            codes.WRONG_VALUE,
            f"the {what} of a window must be an interval of whole milliseconds",
            tree,
            cause=cause,
            fix="write INTERVAL '5' MINUTES",
        )
    return literal.value
