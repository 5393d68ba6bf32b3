"""A stream with what a table holds at the moment."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from compiler.analysis.builder import Builder
from compiler.analysis.joins.request import JoinRequest, Rows, prepare
from compiler.connectors import CONNECTORS
from compiler.connectors.spec import LOOKUP_TTL
from compiler.diagnostics import codes
from compiler.plan.node import Node
from compiler.plan.operators import Boundary, Filter, LookupJoin, LookupTable, Project, Scan, Watermark
from compiler.plan.operators.seed_join import JoinKind

_BOUNDED = {connector.name for connector in CONNECTORS if connector.lookup}


def lookup_join(builder: Builder, request: JoinRequest) -> Rows:
    """The join with the right side as it is when an epoch begins.

    Raises:
        DiagnosticError: another kind than inner and left, no condition, or a right side that cannot be read
            as a table (HR329).
    """
    if request.kind not in ("inner", "left"):
        raise request.error(
            codes.LOOKUP_JOIN,
            f"a lookup join cannot be {request.kind}",
            cause="rows of the table are looked at when a row of the stream asks for them, not by themselves",
            fix="write JOIN or LEFT JOIN",
        )
    request.refuse_changes()
    table = _as_table(request, request.right)
    sides = prepare(builder, replace(request, right=table))
    if sides.predicate is None:
        raise request.error(
            codes.LOOKUP_JOIN,
            f"the join with `{request.name}` has no condition",
            fix="add ON with an equality of a column of each side",
        )
    uid = builder.uid("join", request.span)
    node = LookupJoin(uid, sides.left, sides.right, cast(JoinKind, request.kind), sides.predicate)
    return node, sides.above(node)


def _as_table(request: JoinRequest, node: Node) -> Node:
    """The relation with its source read as a table."""
    if isinstance(node, Scan):
        return _table(request, node)
    if isinstance(node, (Project, Filter)):
        return node.with_inputs((_as_table(request, node.input),))
    if isinstance(node, (Boundary, Watermark)):
        # What is read at once has no watermark.
        return _as_table(request, node.input)
    raise request.error(
        codes.LOOKUP_JOIN,
        f"`{request.name}` cannot be looked up",
        cause=f"a lookup reads a source anew, and `{node.uid}` is computed over a stream",
        fix="look up a source, or read versions of it as of an event time",
    )


def _table(request: JoinRequest, scan: Scan) -> LookupTable:
    if scan.connector not in _BOUNDED:
        raise request.error(
            codes.LOOKUP_JOIN,
            f"`{scan.uid}` cannot be looked up",
            cause=f"no epoch can read all that the connector `{scan.connector}` gives",
            fix=f"use one of {', '.join(sorted(_BOUNDED))}, or read versions of it as of an event time",
        )
    if scan.metadata or scan.marks_bad_records:
        what = "METADATA columns" if scan.metadata else "on_bad_record"
        raise request.error(
            codes.LOOKUP_JOIN,
            f"`{scan.uid}` cannot be looked up with {what}",
            cause="a lookup reads all that is there, without telling where a row stood",
            fix="declare a source of its own for the lookup",
        )
    options = tuple((name, value) for name, value in scan.options if name not in _OF_STREAMS)
    refresh = dict(scan.options).get(LOOKUP_TTL.name)
    return LookupTable(
        scan.uid, scan.connector, options, scan.columns, int(refresh) or None if refresh is not None else None
    )


_OF_STREAMS = frozenset(
    {
        *(LOOKUP_TTL.name, "max_files_per_epoch", "lookup.cache", "lookup.partial-cache.max-rows"),
        *("starting_version", "starting_timestamp", "on_change"),
    }
)
