"""Arguments of table functions, positional and named: `TUMBLE(TABLE t, DESCRIPTOR(ts), size => …)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.scope import Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.frozen import frozen
from compiler.plan.node import Node
from compiler.plan.schema import Field
from compiler.syntax.tokens.functions import MARK
from compiler.syntax.tokens.partition_by import PARTITION_BY

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


@frozen(slots=True)
class Signature:
    """How a table function is called.

    Args:
        names: its arguments in the order of the positional form.
        optional: those that may be left out.
        form: an example, for messages.
    """

    names: tuple[str, ...]
    optional: frozenset[str]
    form: str


@frozen(slots=True)
class TableArgument:
    """A table that a function reads, and the names after its PARTITION BY."""

    table: exp.Expr
    partition_by: tuple[exp.Expr, ...]


def function_name(call: exp.Anonymous) -> str:
    """The name of a called function, in lower case."""
    return str(call.this).removeprefix(MARK).lower()


def bind_arguments(binder: QueryBinder, call: exp.Anonymous, signature: Signature) -> dict[str, exp.Expr]:
    """The arguments by name.

    Raises:
        DiagnosticError: one is missing, unknown, or given twice (HR220).
    """
    names = signature.names
    found: dict[str, exp.Expr] = {}
    for index, argument in enumerate(call.expressions):
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
            raise wrong_argument(binder, call, signature, problem or "there are too many arguments", argument)
        found[name] = value
    missing = [name for name in names if name not in found and name not in signature.optional]
    if missing:
        raise wrong_argument(binder, call, signature, f"`{missing[0]}` is missing", call)
    return found


def wrong_argument(
    binder: QueryBinder, call: exp.Anonymous, signature: Signature, problem: str, tree: exp.Expr
) -> DiagnosticError:
    """The mistake of a call, with the form that it should have."""
    message = f"{function_name(call).upper()}: {problem}"
    return binder.error(codes.WRONG_ARGUMENTS, message, tree, fix=f"write {signature.form}")


def table_argument(tree: exp.Expr) -> TableArgument:
    """The table that an argument is, with its PARTITION BY."""
    keys: tuple[exp.Expr, ...] = ()
    if isinstance(tree, exp.Anonymous) and str(tree.this) == PARTITION_BY:
        tree, *rest = tree.expressions
        keys = tuple(rest)
    if isinstance(tree, exp.Anonymous) and function_name(tree) == "table" and len(tree.expressions) == 1:
        tree = tree.expressions[0]
    return TableArgument(tree, keys)


def named_table(call: exp.Anonymous) -> exp.Table | exp.Column | None:
    """The name that a table function reads, as far as it reads one and not a subquery."""
    first = call.expressions[0] if call.expressions else None
    if first is None:
        return None
    table = table_argument(first.args["expression"] if isinstance(first, exp.Kwarg) else first).table
    return table if isinstance(table, (exp.Table, exp.Column)) else None


def bind_table(binder: QueryBinder, argument: TableArgument) -> Node:
    """The operator that a table argument reads.

    Raises:
        DiagnosticError, Poisoned: as for FROM.
    """
    tree = argument.table
    if isinstance(tree, exp.Query):
        return binder.bind(tree.this if isinstance(tree, exp.Subquery) else tree)
    return binder.relation(tree).node


def bind_column(binder: QueryBinder, node: Node, tree: exp.Expr) -> Field:
    """The column of a table that a name in an argument means.

    Raises:
        DiagnosticError: no such column (HR201), or no name.
    """
    Scope.of(node.schema).resolve((tree.name,), binder.span(tree))
    field = node.schema.get(tree.name)
    assert field is not None
    return field


def descriptor(
    binder: QueryBinder, call: exp.Anonymous, signature: Signature, tree: exp.Expr, what: str
) -> exp.Column:
    """The name in DESCRIPTOR(name).

    Raises:
        DiagnosticError: it is something else.
    """
    is_descriptor = (
        isinstance(tree, exp.Anonymous)
        and function_name(tree) == "descriptor"
        and len(tree.expressions) == 1
        and isinstance(tree.expressions[0], exp.Column)
    )
    if not is_descriptor:
        raise wrong_argument(binder, call, signature, f"{what} is DESCRIPTOR(column)", tree)
    column: exp.Column = tree.expressions[0]
    return column
