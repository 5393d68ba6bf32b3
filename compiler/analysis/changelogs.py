"""Changes of a table on their way through operators that both front ends build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.node import Node
from compiler.plan.operators import Normalize
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
                fix="say how long a row is kept that does not change, WITH (state_ttl = '1 d') on the model; "
                "or let the state grow, allow_unbounded = true",
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
    names = ", ".join(f"`{name}`" for name in lost)
    raise DiagnosticError(
        Diagnostic(
            codes.CHANGES_KEY,
            f"the rows are changes by {', '.join(changes.key)}, and SELECT leaves out {names}",
            span,
            cause="without its key a change no longer says which row it replaces or deletes",
            fix=f"select {', '.join(lost)} as well, as it is; a new name is fine",
        )
    )
