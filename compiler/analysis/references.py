"""Which relations a query reads, found before it is bound."""

from __future__ import annotations

from sqlglot import exp

from compiler.analysis.places import tree_span
from compiler.analysis.relations import table_function
from compiler.analysis.table_arguments import named_table, table_argument
from compiler.diagnostics.source import Span
from compiler.syntax.dialect import Parsed

# Only below these can a relation be named: in expressions, only by a subquery in WHERE.
_QUERIES = (exp.Query, exp.Table, exp.From, exp.Join, exp.CTE, exp.With, exp.Alias, exp.Subquery)
_PREDICATES = (exp.Where, exp.And, exp.Not, exp.Paren, exp.In, exp.Exists)
_INSIDE = (*_QUERIES, *_PREDICATES)


def references(parsed: Parsed) -> list[tuple[str, Span]]:
    """Names of the relations that a query reads, outside its own WITH clauses."""
    found: list[tuple[str, Span]] = []
    stack: list[tuple[exp.Expr, frozenset[str]]] = [(parsed.tree, frozenset())]
    while stack:
        node, own = stack.pop()
        below: list[tuple[exp.Expr, frozenset[str]]] = []
        with_ = node.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            # A name of WITH is seen by what follows it, not by its own query.
            below.append((cte.this, own))
            own |= {cte.alias.lower()}
        tree = _named_relation(node)
        if tree is not None and tree.parts[-1].name.lower() not in own:
            found.append((tree.parts[-1].name, tree_span(tree, parsed.fragment)))
        below.extend((query, own) for query in _inside_call(node))
        for key, value in node.args.items():
            if isinstance(value, list):
                below.extend([(child, own) for child in value if isinstance(child, _INSIDE)])
            elif isinstance(value, _INSIDE) and key != "with_":
                below.append((value, own))
        stack.extend(reversed(below))
    return found


def _named_relation(tree: exp.Expr) -> exp.Table | exp.Column | None:
    """The name that an entry of FROM reads: its own, or that inside a table function."""
    if not isinstance(tree, exp.Table):
        return None
    if isinstance(tree.this, exp.Identifier):
        return tree
    call = table_function(tree)
    return named_table(call) if call is not None else None


def _inside_call(tree: exp.Expr) -> list[exp.Expr]:
    """The query that a table function reads, as in `TUMBLE(TABLE (SELECT …), …)`."""
    call = table_function(tree) if isinstance(tree, exp.Table) else None
    if call is None or not call.expressions:
        return []
    first = call.expressions[0]
    table = table_argument(first.args["expression"] if isinstance(first, exp.Kwarg) else first).table
    return [table] if isinstance(table, exp.Query) else []
