"""Options of a model that change nothing in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.node import Node
from compiler.plan.operators import Boundary
from compiler.syntax.declarations import OptionDecl


def ignored_options(options: Sequence[OptionDecl], node: Node, owner: str) -> Iterator[Diagnostic]:
    """HR124 (warning) for `state_ttl` and `allow_unbounded` of a query that keeps no state.

    What a SET gave to the statements after it is no wish of each of them.

    Args:
        options: as they were written.
        node: what the query became.
        owner: the model or sink, for the message.
    """
    asked = [o for o in options if o.key.value.lower() in _OF_STATE and not o.inherited]
    if not asked or _keeps_state(node):
        return
    for option in asked:
        yield Diagnostic(
            codes.OPTION_WITHOUT_EFFECT,
            f"`{option.key.value}` of `{owner}` has no effect",
            option.key.span,
            cause="the query keeps no state of its own",
            fix="remove it, or give it to the model that joins, groups or removes duplicates",
        )


_OF_STATE = ("state_ttl", "allow_unbounded")


def _keeps_state(node: Node) -> bool:
    """Whether an operator of the query itself, and not of a model that it reads, keeps state."""
    stack = [node]
    seen: set[int] = set()
    while stack:
        here = stack.pop()
        if id(here) in seen or isinstance(here, Boundary):
            continue
        seen.add(id(here))
        if here.is_stateful:
            return True
        stack.extend(here.inputs)
    return False
