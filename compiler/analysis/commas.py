"""A comma that was forgotten in SELECT makes an alias of the next column."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.places import tree_offsets
from compiler.analysis.scope import Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

_AS = re.compile(r"\bAS\s*`?\Z", re.IGNORECASE)


def check_comma(binder: QueryBinder, item: exp.Expr, scope: Scope) -> None:
    """Warns of `a b`, where `b` is a column of FROM too: HR228."""
    if not isinstance(item, exp.Alias) or not isinstance(item.this, exp.Column):
        return
    alias = item.args["alias"]
    if item.this.name.lower() == alias.name.lower() or scope.find((alias.name,)) is None:
        return
    place = tree_offsets(alias)
    if place is None or _AS.search(binder.fragment.text, 0, place[0]):
        return
    name = binder.span(item.this).text
    binder.reporter.add(
        Diagnostic(
            codes.FORGOTTEN_COMMA,
            f"`{alias.name}` is another name of `{name}` here, and a column of its own in FROM",
            binder.span(item),
            cause=f"without a comma, SELECT gives `{name}` under the name `{alias.name}`",
            fix=f"write `{name}, {alias.name}` for both, or `{name} AS {alias.name}` if one is meant",
        )
    )
