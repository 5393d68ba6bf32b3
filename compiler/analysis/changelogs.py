"""Changes of a table on their way through operators that both front ends build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.analysis.advice import keep_all, keep_for
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.node import Node, walk
from compiler.plan.operators import Normalize, TopN
from compiler.plan.operators.over import UNNAMED
from compiler.plan.operators.project import NamedExpr, carried_column

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder


def with_before(builder: Builder, node: Node, what: str, span: Span) -> Node:
    """Changes that name the rows that go, for operators that take rows back; rows that stay are left alone.

    Args:
        builder: of the model.
        node: the changes.
        what: who takes rows back, as the user wrote it.
        span: where it is written.

    Raises:
        DiagnosticError: nothing bounds what must be remembered for it (HR306).
    """
    if node.changelog.is_append or node.changelog.before:
        return node
    if not builder.options.bounds_state:
        raise DiagnosticError(
            Diagnostic(
                codes.UNBOUNDED_STATE,
                f"{what} keeps the last row of every key for ever",
                span,
                cause="a change must say which row it takes back, so the row must be remembered",
                fix=f"say how long a row is kept that does not change, {keep_for(span)} on the model; "
                f"or let the state grow, {keep_all(span)}",
            )
        )
    return Normalize(builder.uid("normalize", span), node, builder.options.state_ttl_ms)


def check_key_is_kept(node: Node, items: Sequence[NamedExpr], span: Span) -> None:
    """Looks whether a projection of changes still says whose changes they are, where a key alone says it.

    Raises:
        DiagnosticError: a column of the key is left out or computed anew (HR346).
    """
    changes = node.changelog
    kept = {carried_column(item.expr) for item in items}
    lost = [name for name in changes.key if name not in kept]
    if not lost or changes.before:
        return
    named = [name for name in lost if not name.startswith(UNNAMED)]
    by = [", ".join(name for name in changes.key if not name.startswith(UNNAMED))]
    missing = [", ".join(f"`{name}`" for name in named)]
    fixes = [f"select {', '.join(named)} as well, as it is; a new name is fine"] if named else []
    if len(named) < len(lost):
        by.append("the number in QUALIFY")
        missing.append("that number")
        top = next((n for n in walk(node) if isinstance(n, TopN) and n.rank in lost), None)
        limit = top.limit if top is not None else "N"
        fixes.append(
            f"name the number in SELECT, `ROW_NUMBER() OVER (…) AS rn`, and write `QUALIFY rn <= {limit}`"
        )
    raise DiagnosticError(
        Diagnostic(
            codes.CHANGES_KEY,
            f"the rows are changes by {_and(by)}, and SELECT leaves out {_and(missing)}",
            span,
            cause="without its key a change no longer says which row it replaces or deletes",
            fix="; ".join(fixes),
        )
    )


def _and(parts: Sequence[str]) -> str:
    return " and ".join(part for part in parts if part)
