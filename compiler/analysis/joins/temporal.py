"""A stream with the version of a table at an event time."""

from __future__ import annotations

from dataclasses import replace

from compiler.analysis.builder import Builder
from compiler.analysis.joins.predicate import conjuncts, key_of
from compiler.analysis.joins.request import JoinRequest, Rows, prepare
from compiler.analysis.joins.versions import NotVersioned, versions_of
from compiler.diagnostics import codes
from compiler.plan.expr import Column, Expr, conjunction
from compiler.plan.operators import TemporalJoin
from compiler.plan.operators._stream_join import JoinKey, StreamJoinKind
from compiler.plan.schema import Field


def temporal_join(builder: Builder, request: JoinRequest, time: Field) -> Rows:
    """The join with the versions of the right side at the time of a row of the left.

    Raises:
        DiagnosticError: another kind than inner and left, a right side without versions, or a condition that
            does not name its key (HR328).
    """
    kinds: dict[str, StreamJoinKind] = {"inner": "inner", "left": "left"}
    kind = kinds.get(request.kind)
    if kind is None:
        raise request.error(
            codes.TEMPORAL_JOIN,
            f"a join with versions cannot be {request.kind}",
            cause="a version belongs to rows of the left side; by itself it has no moment to leave at",
            fix="write JOIN or LEFT JOIN",
        )
    request.refuse_changes()
    versions = versions_of(request.right, request.name)
    if isinstance(versions, NotVersioned):
        raise request.error(
            codes.TEMPORAL_JOIN,
            f"`{request.name}` is no versioned table",
            cause=versions.cause,
            fix=versions.fix,
        )
    sides = prepare(builder, replace(request, right=versions.history))
    right_time = sides.column_of(versions.time)
    wanted = {sides.column_of(column): column for column in versions.key}
    found: dict[str, JoinKey] = {}
    rest: list[Expr] = []
    for part in conjuncts(sides.predicate):
        key = key_of(part, sides.left.schema, sides.right.schema)
        name = key.right.name if key is not None and isinstance(key.right, Column) else None
        if key is not None and name in wanted and name not in found:
            found[name] = JoinKey(key.left, key.right)
        else:
            rest.append(part)
    missing = [column for name, column in wanted.items() if name not in found]
    if missing:
        raise request.error(
            codes.TEMPORAL_JOIN,
            f"ON does not say which row of `{request.name}` is meant",
            cause=f"its key is {', '.join(wanted.values())}, and {missing[0]} stands in no equality",
            fix=f"add to ON: {request.name}.{missing[0]} = …",
        )
    node = TemporalJoin(
        builder.uid("join", request.span),
        sides.left,
        sides.right,
        kind,
        tuple(found[name] for name in wanted),
        conjunction(rest) if rest else None,
        time.name,
        right_time,
        builder.options.allow_unbounded,
    )
    return node, sides.above(node)
