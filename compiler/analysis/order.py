"""In which order models are bound, and whether there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.source import Span


class Reader(Protocol):
    """A model, or another declaration with a query."""

    @property
    def name(self) -> str:
        """As it was written."""
        ...

    def references(self) -> list[tuple[str, Span]]:
        """Names of the relations that it reads, and where."""
        ...


AnyReader = TypeVar("AnyReader", bound=Reader)

# Of a long cycle so many models are shown at each end.
_SHOWN = 4


def in_order(models: list[AnyReader], reporter: Reporter) -> list[AnyReader]:
    """Models so that each follows those that it reads; members of a cycle are reported and left out."""
    by_name = {m.name.lower(): m for m in models}
    reads = {
        name: [(ref.lower(), span) for ref, span in model.references() if ref.lower() in by_name]
        for name, model in by_name.items()
    }
    ordered: list[AnyReader] = []
    done: set[str] = set()
    cyclic: set[str] = set()
    for start in by_name:
        _visit(start, reads, by_name, done, cyclic, ordered, reporter)
    return ordered


def _visit(
    start: str,
    reads: dict[str, list[tuple[str, Span]]],
    by_name: dict[str, AnyReader],
    done: set[str],
    cyclic: set[str],
    ordered: list[AnyReader],
    reporter: Reporter,
) -> None:
    # Depth first with a stack of its own: projects are deeper than Python's recursion limit.
    path: list[str] = []
    edges: dict[str, Span] = {}
    stack: list[tuple[str, bool]] = [(start, False)]
    while stack:
        name, leaving = stack.pop()
        if leaving:
            path.pop()
            if name not in done:
                done.add(name)
                if name not in cyclic:
                    ordered.append(by_name[name])
            continue
        if name in done:
            continue
        if name in path:
            continue
        path.append(name)
        stack.append((name, True))
        for other, span in reversed(reads[name]):
            if other in path:
                cycle = path[path.index(other) :]
                if not cyclic.issuperset(cycle):
                    _report(cycle, by_name, span, edges, reporter)
                cyclic.update(cycle)
            elif other not in done:
                edges[other] = span
                stack.append((other, False))


def _report(
    cycle: list[str], by_name: Mapping[str, Reader], span: Span, edges: dict[str, Span], reporter: Reporter
) -> None:
    names = [by_name[name].name for name in cycle]
    around = [f"`{name}`" for name in (*names, names[0])]
    if len(around) > 2 * _SHOWN:
        around = [*around[:_SHOWN], "…", *around[-_SHOWN:]]
    shown = " reads ".join(around)
    if len(names) == 1:
        message, fix = f"`{names[0]}` reads itself", "read from another model, or from a source of that name"
    else:
        message, fix = "models form a cycle", "take one of these references out"
    related = tuple(
        Label(edges[name], f"`{by_name[name].name}` is read here")
        for name in cycle[1 : 2 * _SHOWN]
        if name in edges
    )
    reporter.add(Diagnostic(codes.CYCLE, message, span, cause=shown, fix=fix, related=related))
