"""What a project declares, a line each: for `headrace list`, `--select` and the cache of compiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from compiler.project.selection import Graph, Kind

if TYPE_CHECKING:
    from compiler.syntax.declarations import OptionDecl, Project, Text


class Entry(Struct, frozen=True):
    """A declaration. `reads` is None where a mistake keeps it from being known."""

    name: str
    kind: Kind
    file: str
    line: int
    connector: str | None
    reads: tuple[str, ...] | None
    description: str | None


def entries(project: Project, graph: Graph) -> tuple[Entry, ...]:
    """All declarations: sources first, by file, and each model after those that it reads."""
    found: list[Entry] = []

    def add(name: Text, kind: Kind, options: tuple[OptionDecl, ...], description: str | None) -> None:
        file = name.span.file
        line, _ = file.position(name.span.start)
        reads = graph.reads.get(name.value)
        found.append(Entry(name.value, kind, file.path, line, _connector(options), reads, description))

    for source in project.sources:
        add(source.name, "source", source.options, source.description)
    for seed in project.seeds:
        add(seed.name, "seed", (), None)
    order: Mapping[str, int] = {name: number for number, name in enumerate(graph.kinds)}
    # What could not be bound comes last.
    for model in sorted(project.models, key=lambda m: order.get(m.name.value, len(order))):
        add(model.name, "model", (), model.description)
    for sink in project.sinks:
        add(sink.name, "sink", sink.options, sink.description)
    return tuple(found)


def _connector(options: tuple[OptionDecl, ...]) -> str | None:
    return next((o.value.value for o in options if o.key.value.lower() == "connector"), None)
