"""Which operators leave late rows of a source out, for a source whose late rows are dead letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan.logical import BoundSink
from compiler.plan.node import Node, rewrite, walk
from compiler.plan.operators import (
    Filter,
    LateRows,
    Project,
    Union,
    Watermark,
    Window,
)
from compiler.plan.operators.late_rows import PASSED, Reader, Step, Way


def with_late_rows(
    sinks: Sequence[BoundSink], places: Mapping[str, Span], reporter: Reporter
) -> list[BoundSink]:
    """The sinks, in which late rows are told for the operators that leave them out.

    HR315 where that cannot be told.

    Args:
        sinks: all of the project; a `LateRows` stands over its source.
        places: of operators, by uid.
        reporter: takes what is wrong.
    """
    asked = [node for sink in sinks for node in walk(sink.node) if isinstance(node, LateRows)]
    if not asked:
        return list(sinks)
    others = [sink for sink in sinks if not any(isinstance(node, LateRows) for node in walk(sink.node))]
    resolved: dict[int, LateRows] = {}
    for late in asked:
        made = _resolved(late, others, places, reporter)
        if made is not None:
            resolved[id(late)] = made
    if len(resolved) < len(asked):
        return others
    nodes = rewrite(tuple(sink.node for sink in sinks), lambda node: resolved.get(id(node), node))
    return [replace(sink, node=node) for sink, node in zip(sinks, nodes, strict=True)]


def _resolved(
    late: LateRows, sinks: Sequence[BoundSink], places: Mapping[str, Span], reporter: Reporter
) -> LateRows | None:
    """It over the first sink's rows that its readers' rows go to; None if something is wrong."""
    place = places.get(late.uid)
    found = list(_ways(late, sinks))
    for end in found:
        if end.problem is not None:
            reporter.add(
                _cannot(
                    f"late rows of source `{late.source}` cannot be told for `{end.last.uid}`",
                    place,
                    end.problem,
                    "count them with on_late = 'drop' or 'fail', or declare another source for this operator",
                    places.get(end.last.uid),
                )
            )
    if any(end.problem is not None for end in found):
        return None
    readers = list(dict.fromkeys(id(end.last) for end in found))
    if len(readers) < len(found):
        reporter.add(
            _cannot(
                f"late rows of source `{late.source}` cannot be told",
                place,
                "an operator takes its rows on more ways than one",
                "count them with on_late = 'drop' or 'fail'",
            )
        )
        return None
    if not found:
        reporter.add(
            _cannot(
                f"no row of source `{late.source}` is ever late",
                place,
                "nothing that reads it is closed by its watermark",
                "remove on_late",
            )
        )
        return None
    ways = tuple(Way(end.last, end.steps) for end in found if isinstance(end.last, Reader))
    inside = {id(end.last) for end in found}
    home = next(sink for sink in sinks if any(id(node) in inside for node in walk(sink.node)))
    return replace(late, input=home.node, ways=ways)


@frozen
class _End:
    """Where a way of a source's rows ends, and why late rows cannot be told there, if they cannot."""

    last: Node
    steps: tuple[tuple[Step, Node], ...]
    problem: str | None = None


def _ways(late: LateRows, sinks: Sequence[BoundSink]) -> Iterator[_End]:
    """The ways from the source to the first operators that leave rows out."""
    consumers: dict[int, list[Node]] = {}
    for node in walk(*(sink.node for sink in sinks)):
        for above in node.inputs:
            consumers.setdefault(id(above), []).append(node)
    pending: list[tuple[Node, tuple[tuple[Step, Node], ...]]] = [(late.input, tuple(_own_steps(late)))]
    while pending:
        node, steps = pending.pop()
        for below in consumers.get(id(node), ()):
            if below.is_stateful:
                if below.heeds_watermark:
                    yield _End(below, steps, _problem(below))
            elif isinstance(below, PASSED):
                pending.append((below, steps))
            elif isinstance(below, (Filter, Project, Window, Union)):
                pending.append((below, (*steps, (below, node))))
            elif any(other.heeds_watermark for other in _behind(below, consumers)):
                yield _End(below, steps, "a row cannot be followed through it to what leaves late ones out")


def _own_steps(late: LateRows) -> Iterator[tuple[Step, Node]]:
    """What the source itself makes of its records."""
    found: list[tuple[Step, Node]] = []
    node = late.input
    while node is not late.scan and node.inputs:
        (above,) = node.inputs
        assert isinstance(node, (Filter, Project, Watermark))
        found.append((node, above))
        node = above
    return reversed(found)


def _behind(node: Node, consumers: Mapping[int, Sequence[Node]]) -> Iterator[Node]:
    pending, seen = [node], set[int]()
    while pending:
        current = pending.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            pending.extend(consumers.get(id(current), ()))


def _problem(reader: Node) -> str | None:
    if isinstance(reader, Reader):
        return None
    return f"a {reader.kind.replace('_', ' ')} judges rows by more than their own time"


def _cannot(message: str, place: Span | None, cause: str, fix: str, reader: Span | None = None) -> Diagnostic:
    related = (Label(reader, "its rows are taken here"),) if reader is not None else ()
    return Diagnostic(codes.SOURCE_POLICY, message, place, cause=cause, fix=fix, related=related)
