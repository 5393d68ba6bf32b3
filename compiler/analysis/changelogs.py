"""Changes of a table on their way through operators that both front ends build."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.plan.node import Node
from compiler.plan.operators.project import NamedExpr, carried_column


def check_key_is_kept(node: Node, items: Sequence[NamedExpr], span: Span) -> None:
    """Looks whether a projection of changes still says whose changes they are.

    Raises:
        DiagnosticError: a column of the key is left out or computed anew (HR346).
    """
    changes = node.changelog
    kept = {carried_column(item.expr) for item in items}
    lost = [name for name in changes.key if name not in kept]
    if not lost:
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
