"""What names in FROM mean, while a project is being bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.frozen import frozen
from compiler.plan.node import Node
from compiler.syntax.declarations import OptionDecl

WithOptions = Callable[[tuple[OptionDecl, ...]], Node]
"""Reads a source with other options."""


class Poisoned(Exception):
    """What is needed has an error of its own, which has been told: no second message is due."""


@frozen(slots=True)
class Relation:
    """A source, model or seed that has been bound; `with_options` reads a source with other options."""

    name: str
    kind: str
    node: Node
    with_options: WithOptions | None = None


@dataclass
class Catalog:
    """Relations by name, without regard to case.

    `known` are all names of the project; one that is known but not in `relations` failed to bind.
    `read` collects the names that something reads, `sinks` are names that cannot be. A WITH clause makes a
    child whose names win.
    """

    known: frozenset[str]
    relations: dict[str, Relation] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    parent: Catalog | None = None
    sinks: frozenset[str] = frozenset()

    def add(self, relation: Relation) -> None:
        """Makes a relation visible."""
        self.relations[relation.name.lower()] = relation

    def child(self) -> Catalog:
        """A catalog for a WITH clause, to which its names are added one after the other."""
        return Catalog(frozenset(), {}, self.read, self)

    def get(self, name: str, span: Span) -> Relation:
        """The relation of that name.

        Raises:
            DiagnosticError: there is none (HR202).
            Poisoned: it has errors of its own.
        """
        key = name.lower()
        found = self.relations.get(key)
        if found is not None:
            if self.parent is None:
                self.read.add(key)
            return found
        if self.parent is not None and key not in self.known:
            return self.parent.get(name, span)
        if key in self.known:
            self.read.add(key)
            raise Poisoned(name)
        if key in self.sinks:
            raise DiagnosticError(
                Diagnostic(
                    codes.WRITE_TO_SOURCE,
                    f"`{name}` is a sink and cannot be read",
                    span,
                    cause="a query never waits for what another writes",
                    fix="read the model that the sink takes its rows from",
                )
            )
        near = suggest(name, sorted(self._all_names()))
        raise DiagnosticError(
            Diagnostic(
                codes.UNKNOWN_RELATION,
                f"unknown source, model or seed `{name}`",
                span,
                label="not found",
                fix=f"did you mean `{near}`?" if near else "declare it with CREATE SOURCE or CREATE MODEL",
            )
        )

    def _all_names(self) -> set[str]:
        above = self.parent._all_names() if self.parent else set()
        return {*self.known, *self.relations, *above}
