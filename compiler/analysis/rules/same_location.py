"""Two writers never share a path or topic."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.plan.logical import BoundSink, LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Scan


def same_location(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR401 for two sinks in one place, one inside the other, or a sink that writes where it reads.

    Two queries that write files into one folder lose rows silently: each takes the other's manifest for
    its own.
    """
    placed = [(sink, location) for sink in plan.sinks if (location := _location(sink)) is not None]
    for index, (sink, location) in enumerate(placed):
        for other, taken in placed[:index]:
            if _overlap(location, taken):
                yield Diagnostic(
                    codes.SAME_PATH,
                    f"sinks `{other.name}` and `{sink.name}` write to one place",
                    sink.places.get(sink.connector.location or "", sink.span),
                    cause=f"{_both(location, taken)}: each takes the other's files for left-overs of a crash",
                    fix="give each sink a folder of its own, or unite the queries with UNION ALL",
                    related=(Label(other.places.get("path", other.span), f"`{other.name}` writes here"),),
                )
        for scan in _scans(sink):
            source = dict(scan.options).get("path")
            if isinstance(source, str) and _overlap(location, _normal(source)):
                yield Diagnostic(
                    codes.SAME_PATH,
                    f"sink `{sink.name}` writes into the folder that source `{scan.uid}` reads",
                    sink.places.get("path", sink.span),
                    cause="its own rows would come back as input, for ever",
                    fix="give the sink a folder of its own",
                )


def _both(a: str, b: str) -> str:
    return f"`{a}` is one folder" if a == b else f"`{a}` and `{b}` overlap"


def _scans(sink: BoundSink) -> list[Scan]:
    return [node for node in walk(sink.node) if isinstance(node, Scan)]


def _location(sink: BoundSink) -> str | None:
    value = dict(sink.options).get(sink.connector.location or "")
    return _normal(value) if isinstance(value, str) else None


def _normal(path: str) -> str:
    return posixpath.normpath(path.removeprefix("file://"))


def _overlap(a: str, b: str) -> bool:
    return a == b or a.startswith(b + "/") or b.startswith(a + "/")
