"""What can stand in FROM: a name, a subquery or a table function.

To add a table function: write a file with a function that binds its call, and add its line to
`TABLE_FUNCTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.analysis.catalog import Poisoned
from compiler.analysis.changelog_functions import bind_changelog_function
from compiler.analysis.process import bind_process_call
from compiler.analysis.scope import Part, Scope
from compiler.analysis.table_arguments import function_name
from compiler.analysis.user_functions import is_broken, process_function, process_names
from compiler.analysis.values import bind_values
from compiler.analysis.watermarks import bind_watermark
from compiler.analysis.windows import bind_window_function
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.diagnostics.suggest import did_you_mean
from compiler.frozen import frozen
from compiler.plan.node import Node
from compiler.syntax.tokens.functions import MARK

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


@frozen(slots=True)
class Bound:
    """An operator and the names by which its columns can be reached."""

    node: Node
    scope: Scope


TableFunction = Callable[["QueryBinder", exp.Anonymous], Node]


def _match_recognize(binder: QueryBinder, call: exp.Anonymous) -> Node:
    # Few projects look for patterns; the modules that bind them are imported with the first one.
    from compiler.analysis.match.sql import bind_match_recognize

    return bind_match_recognize(binder, call)


# By lower-case name; the call is without the TABLE( ) around it.
TABLE_FUNCTIONS: Final[dict[str, TableFunction]] = {
    "tumble": bind_window_function,
    "hop": bind_window_function,
    "cumulate": bind_window_function,
    "session": bind_window_function,
    "watermark": bind_watermark,
    "match_recognize": _match_recognize,
    "from_changelog": bind_changelog_function,
    "to_changelog": bind_changelog_function,
}
# Those that a clause of FROM was rewritten to.
_CLAUSES: Final = ("watermark", "match_recognize")


def bind_relation(binder: QueryBinder, tree: exp.Expr) -> Bound:
    """Binds an entry of FROM or JOIN whose clauses have been looked at.

    Raises:
        DiagnosticError: a mistake.
        Poisoned: the relation has a mistake of its own.
    """
    if tree.args.get("version") is not None and not isinstance(tree.parent, exp.Join):
        message = "FOR SYSTEM_TIME AS OF stands in a JOIN"
        raise binder.error(codes.NOT_YET_STREAMING, message, tree, fix="join a stream with this relation")
    if isinstance(tree, exp.Subquery):
        node = binder.named(tree.this, tree.args.get("alias"))
        return Bound(node, Scope.of(node.schema, tree.alias or None))
    if isinstance(tree, exp.Values):
        node = bind_values(binder, tree)
        return Bound(node, Scope.of(node.schema, tree.alias or None))
    call = table_function(tree)
    if call is not None:
        bind = TABLE_FUNCTIONS.get(function_name(call), bind_process_call)
        node = binder.renamed(bind(binder, call), tree.args.get("alias"))
        return Bound(node, Scope.of(node.schema, tree.alias or None))
    if not isinstance(tree, exp.Table) or not isinstance(tree.this, exp.Identifier):
        raise not_a_relation(binder, tree)
    relation = binder.relation(tree)
    node = binder.renamed(relation.node, tree.args.get("alias"))
    return Bound(node, Scope((Part.of(tree.alias or relation.name, node.schema),)))


def table_function(tree: exp.Expr) -> exp.Anonymous | None:
    """The call of a known table function that an entry of FROM is, with or without TABLE( ), or None."""
    call = tree.this if isinstance(tree, exp.Table) else tree
    if isinstance(call, exp.Anonymous) and function_name(call) == "table" and len(call.expressions) == 1:
        call = call.expressions[0]
    if not isinstance(call, exp.Anonymous):
        return None
    name = function_name(call)
    return call if name in TABLE_FUNCTIONS or process_function(name) is not None else None


def not_a_relation(binder: QueryBinder, tree: exp.Expr) -> DiagnosticError:
    """The mistake of something in FROM that gives no rows."""
    inner = tree.this if isinstance(tree, exp.Table) else tree
    if isinstance(inner, exp.Anonymous) and function_name(inner) == "table" and len(inner.expressions) == 1:
        inner = inner.expressions[0]
    if isinstance(tree, exp.Lateral) or (
        isinstance(inner, exp.Anonymous) and function_name(inner) == "unnest"
    ):
        what = "LATERAL" if isinstance(tree, exp.Lateral) else "UNNEST"
        fix = "name the relation before it: FROM t CROSS JOIN UNNEST(t.xs) AS u (x)"
        message = f"{what} has no rows to take apart"
        return binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
    if isinstance(inner, exp.Anonymous):
        name = str(inner.this).removeprefix(MARK)
        if is_broken(name):
            raise Poisoned(name)
        built_in = (known.upper() for known in TABLE_FUNCTIONS if known not in _CLAUSES)
        known = (*built_in, *process_names())
        fix = did_you_mean(name, known) or f"table functions are {', '.join(known)}"
        return binder.error(
            codes.UNSUPPORTED_SYNTAX, f"table function `{name}` is not supported", tree, fix=fix
        )
    return binder.error(
        codes.UNSUPPORTED_SYNTAX, "this cannot stand in FROM", tree, fix="name a source or model"
    )
