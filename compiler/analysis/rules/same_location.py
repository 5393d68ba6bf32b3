"""Two writers never share a path or a topic, and nothing reads what another query of the project writes."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from compiler.diagnostics import codes
from compiler.diagnostics.codes import Severity
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan.logical import BoundSink, LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Scan

# What tells one cluster or database from another.
_ADDRESSES = ("properties.bootstrap.servers", "bootstrap_servers", "url")


@frozen(slots=True)
class _Place:
    """Where rows lie: a name of a kind, such as a path, at an address."""

    kind: str
    address: str
    name: str

    def above(self) -> Iterator[_Place]:
        """The folders above a path; nothing else has any."""
        name = self.name
        while self.kind == "path" and (cut := name.rpartition("/")[0]) and cut != name:
            name = cut
            yield _Place(self.kind, self.address, name)


class _Taken:
    """The sinks by their places. Looking one up takes as long as its path is deep, however many there are."""

    def __init__(self) -> None:
        self._at: dict[_Place, BoundSink] = {}
        self._below: dict[_Place, BoundSink] = {}

    def overlapping(self, place: _Place) -> BoundSink | None:
        """The first sink that writes to a place, into a folder above it, or below it."""
        for where in (place, *place.above()):
            if where in self._at:
                return self._at[where]
        return self._below.get(place)

    def add(self, place: _Place, sink: BoundSink) -> None:
        self._at.setdefault(place, sink)
        for folder in place.above():
            self._below.setdefault(folder, sink)


def same_location(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR401 for two sinks in one place or one inside the other, and for sources that read such a place.

    Two queries that write files into one folder lose rows silently: each takes the other's manifest for
    its own.
    """
    taken = _Taken()
    for sink in plan.sinks:
        place = _place(dict(sink.options), sink.connector.location)
        if place is None:
            continue
        other = taken.overlapping(place)
        if other is not None:
            yield _two_writers(sink, place, other)
        taken.add(place, sink)
    for scan in walk(*(relation.node for relation in plan.relations if relation.kind == "source")):
        if not isinstance(scan, Scan):
            continue
        options = dict(scan.options)
        place = _place(options, "path" if "path" in options else "topic")
        writer = taken.overlapping(place) if place is not None else None
        if writer is not None:
            yield _reads_output(scan, writer, plan.places.get(scan.uid))


def _two_writers(sink: BoundSink, place: _Place, other: BoundSink) -> Diagnostic:
    there = _place(dict(other.options), other.connector.location)
    assert there is not None
    if place.kind == "path":
        shared = "is one folder" if place == there else f"and `{there.name}` overlap"
        cause = f"`{place.name}` {shared}: each takes the other's files for left-overs of a crash"
        fix = "give each sink a folder of its own, or unite the queries with UNION ALL"
    else:
        cause = f"both write to {place.kind} `{place.name}`, and neither could keep its promises"
        fix = f"give each sink a {place.kind} of its own, or unite the queries with UNION ALL"
    return Diagnostic(
        codes.SAME_PATH,
        f"sinks `{other.name}` and `{sink.name}` write to one place",
        sink.places.get(sink.connector.location or "", sink.span),
        cause=cause,
        fix=fix,
        related=(Label(_written_at(other), f"`{other.name}` writes here"),),
    )


def _reads_output(scan: Scan, writer: BoundSink, span: Span | None) -> Diagnostic:
    if any(node is scan for node in walk(writer.node)):
        return Diagnostic(
            codes.SAME_PATH,
            f"sink `{writer.name}` writes into what source `{scan.uid}` reads",
            _written_at(writer),
            cause="its own rows would come back as input, for ever",
            fix="give the sink a place of its own",
        )
    return Diagnostic(
        codes.SAME_PATH,
        f"source `{scan.uid}` reads what sink `{writer.name}` writes",
        span,
        cause="which rows one run reads there depends on how far the other query has come",
        fix="read the model behind the sink, by its name",
        related=(Label(_written_at(writer), f"`{writer.name}` writes here"),),
        raised=Severity.WARNING,
    )


def _written_at(sink: BoundSink) -> Span:
    return sink.places.get(sink.connector.location or "", sink.span)


def _place(options: Mapping[str, object], location: str | None) -> _Place | None:
    """The place that options name; None where they name none."""
    value = options.get(location or "")
    if not isinstance(value, str) or location is None:
        return None
    if location == "path":
        return _Place("path", "", posixpath.normpath(value.removeprefix("file://")))
    address = " ".join(str(options[name]) for name in _ADDRESSES if name in options)
    return _Place(location, address, value)
