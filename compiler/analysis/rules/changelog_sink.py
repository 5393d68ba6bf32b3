"""Changes go to sinks that take them, under the key by which they change."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.connectors import CONNECTORS
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import BoundSink, LogicalPlan


def changelog_sink(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR411 for changes into a sink that only appends, HR412 for a key that is not the query's."""
    for sink in plan.sinks:
        changes = sink.node.changelog
        if changes.is_append or sink.connector.shows_changes:
            continue
        if not sink.takes_changes:
            yield _appends(sink)
        elif changes.kind == "retract":
            yield _no_key(sink)
        elif {name.lower() for name in sink.primary_key} != {name.lower() for name in changes.key}:
            yield _other_key(sink)


def _appends(sink: BoundSink) -> Diagnostic:
    able = " or ".join(c.name for c in CONNECTORS if c.upsert)
    changes = sink.node.changelog
    key = f" with {_primary_key(changes.key)}" if changes.key else ""
    return Diagnostic(
        codes.APPEND_SINK,
        f"connector `{sink.connector.name}` only appends, and the rows of `{sink.name}` are changes",
        sink.span,
        cause=f"its query gives {changes.phrase}: a later row takes the place of an earlier one",
        fix=f"write to {able}{key}"
        + (
            ", or append every change with its operation: FROM TO_CHANGELOG(TABLE …)" if changes.exact else ""
        ),
    )


def _no_key(sink: BoundSink) -> Diagnostic:
    return Diagnostic(
        codes.SINK_KEY,
        f"the rows of `{sink.name}` have no key by which they change",
        sink.span,
        cause="two rows may agree in every column: after a SELECT without the key, a union or a join with "
        "rows that only come",
        fix="aggregate by what is to be the key, or select the key as well; of a union give each input a "
        "constant of its own, SELECT 'shop' AS origin, …, over changes by the same columns",
    )


def _other_key(sink: BoundSink) -> Diagnostic:
    changes = sink.node.changelog
    if not changes.key:
        message = f"`{sink.name}` is a table of one row and cannot have a primary key"
        cause = "its query aggregates the whole stream, so each change replaces the only row"
        fix = "remove PRIMARY KEY"
    else:
        has = ", ".join(sink.primary_key)
        message = (
            f"primary key of `{sink.name}` is ({has}), its query changes by ({', '.join(changes.key)})"
            if has
            else f"sink `{sink.name}` has no primary key, and its rows are changes"
        )
        cause = f"its query gives an {changes}: a change finds the row that it replaces by that key"
        fix = f"declare {_primary_key(changes.key)}"
    place = sink.places.get("primary_key", sink.span)
    return Diagnostic(codes.SINK_KEY, message, place, cause=cause, fix=fix)


def _primary_key(key: tuple[str, ...]) -> str:
    return f"PRIMARY KEY ({', '.join(key)}) NOT ENFORCED"
