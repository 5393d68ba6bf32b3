"""The condition of a join of two streams, sorted by what each part is good for."""

from __future__ import annotations

from typing import cast

from compiler.analysis.builder import Builder
from compiler.analysis.joins.predicate import (
    TimeBound,
    WindowEquality,
    conjuncts,
    key_of,
    side_of,
    time_bound,
    window_equality,
)
from compiler.analysis.joins.request import JoinRequest, Sides, prepare
from compiler.diagnostics import codes
from compiler.frozen import frozen
from compiler.plan.expr import Expr, conjunction
from compiler.plan.operators._stream_join import JoinKey, StreamJoinKind


@frozen(slots=True)
class StreamSides:
    """Two streams and the condition of their join, taken apart.

    Args:
        keys: equalities that are neither a window's nor a time's.
        windows: equalities of bounds of windows.
        bounds: bounds between two event times.
        rest: everything else.
    """

    sides: Sides
    kind: StreamJoinKind
    keys: tuple[JoinKey, ...]
    windows: tuple[WindowEquality, ...]
    bounds: tuple[TimeBound, ...]
    rest: tuple[Expr, ...]

    def condition(self, but: tuple[TimeBound, ...] = ()) -> Expr | None:
        """All that is neither a key nor a window nor one of the bounds `but`, which stand elsewhere."""
        others = [bound.expr for bound in self.bounds if bound not in but and not bound.is_key]
        parts = [*self.rest, *others]
        return conjunction(parts) if parts else None


def take_apart(builder: Builder, request: JoinRequest) -> StreamSides:
    """Binds the condition of a join and sorts its parts.

    Raises:
        DiagnosticError: a mistake in it, or no equality (HR312).
    """
    sides = prepare(builder, request)
    left, right = sides.left.schema, sides.right.schema
    parts = conjuncts(sides.predicate)
    if request.kind in ("inner", "cross"):
        found = request.more(sides.both, lambda part: side_of(part, left, right) == "both")
        parts += [part for predicate in found for part in conjuncts(predicate)]
    keys: list[JoinKey] = []
    windows: list[WindowEquality] = []
    bounds: list[TimeBound] = []
    rest: list[Expr] = []
    for part in parts:
        key = key_of(part, left, right)
        window = window_equality(key, left, right) if key is not None else None
        bound = time_bound(part, left, right)
        if window is not None:
            windows.append(window)
        elif key is not None:
            keys.append(JoinKey(key.left, key.right))
            if bound is not None:
                bounds.append(bound)
        elif bound is not None:
            bounds.append(bound)
        else:
            rest.append(part)
    if not parts and request.form != "window":
        raise request.error(
            codes.STREAM_JOIN,
            f"the join with `{request.name}` has no condition",
            cause="every row of one stream would meet every row of the other",
            fix="add ON … with an equality and a bound of time",
        )
    if not keys and not windows and request.form != "window":
        raise request.error(
            codes.STREAM_JOIN,
            "a join of two streams needs an equality",
            cause="rows of both sides are kept by what is equal on both, so that partners find each other",
            fix=f"add to {request.clause} an equality of a column of each side",
        )
    kind = cast(StreamJoinKind, "inner" if request.kind == "cross" else request.kind)
    return StreamSides(sides, kind, tuple(keys), tuple(windows), tuple(bounds), tuple(rest))
