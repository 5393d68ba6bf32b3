"""The record of a compile, and findings to and from it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from compiler.diagnostics.codes import CODES, Severity
from compiler.diagnostics.diagnostic import Diagnostic, Label, Phase
from compiler.diagnostics.policy import Allow, Policy, Raise
from compiler.diagnostics.source import Span
from compiler.kept import Files, KeptProject
from compiler.project.listing import Entry
from compiler.project.selection import Graph

Place = tuple[str, int, int]
"""A range of characters of a file of the project."""


class FoundLabel(Struct, frozen=True):
    """A second place of a finding."""

    place: Place
    text: str


class Found(Struct, frozen=True):
    """A finding, before the project's policy; `phase` is what found it."""

    phase: Phase
    code: str
    message: str
    place: Place | None
    cause: str | None
    fix: str | None
    label: str | None
    related: tuple[FoundLabel, ...]
    raised: str | None


class Allowed(Struct, frozen=True):
    """A code that is silenced."""

    code: str
    place: Place
    region: Place | None


class Raised(Struct, frozen=True):
    """A code whose warnings are errors."""

    code: str
    place: Place


class Record(Struct, frozen=True):
    """What a compile read and gave.

    Args:
        base: see `Inputs`.
        files: the hash of each file.
        environment: names of the environment variables that the compile read.
        salt: what their values were hashed with.
        environment_digest: the hash of their values.
        state: the state root, relative to the project.
        manifest: the hash of its memory.
        descriptors: hashes of the files that options name as descriptors, by the paths as they are written;
            None for one that could not be read.
        project: the project's name.
        plan: the job plan as JSON, None if there were errors.
        findings: all findings.
        allows: what is silenced.
        raises: what is raised.
        listed: what the project declares.
        graph: what reads what.
        kept: what parts of it are compiled from, None if none can be compiled alone.
        config: what headrace.yml says, None if something else has a say in that.
    """

    base: str
    files: dict[str, str]
    environment: tuple[str, ...]
    salt: str
    environment_digest: str
    state: str
    manifest: str
    descriptors: dict[str, str | None]
    project: str
    plan: str | None
    findings: tuple[Found, ...]
    allows: tuple[Allowed, ...]
    raises: tuple[Raised, ...]
    listed: tuple[Entry, ...]
    graph: Graph
    kept: KeptProject | None
    config: bytes | None


class Findings:
    """Findings and what is wished of them, to and from what is kept of them."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def place(self, span: Span) -> Place:
        """A range as it is kept.

        Raises:
            NotKeptError: its file is none of the project's.
        """
        return (self._files.path(span.file), span.start, span.end)

    def span(self, place: Place) -> Span:
        """A range of a file, the same object for the same file."""
        path, start, end = place
        return Span(self._files.file(path), start, end)

    def kept(self, phase: Phase, found: Diagnostic) -> Found:
        """A finding as it is kept."""
        return Found(
            phase,
            found.code.name,
            found.message,
            self.place(found.span) if found.span is not None else None,
            found.cause,
            found.fix,
            found.label,
            tuple(FoundLabel(self.place(label.span), label.text) for label in found.related),
            found.raised.value if found.raised is not None else None,
        )

    def told(self, found: Found) -> Diagnostic:
        """A finding from the record."""
        return Diagnostic(
            CODES[found.code],
            found.message,
            self.span(found.place) if found.place is not None else None,
            found.cause,
            found.fix,
            found.label,
            tuple(Label(self.span(label.place), label.text) for label in found.related),
            Severity(found.raised) if found.raised is not None else None,
        )

    def policy(self, record: Record) -> Policy:
        """The project's policy from the record."""
        return Policy(
            tuple(
                Allow(a.code, self.span(a.place), self.span(a.region) if a.region is not None else None)
                for a in record.allows
            ),
            tuple(Raise(r.code, self.span(r.place)) for r in record.raises),
        )

    def kept_allows(self, allows: Iterable[Allow]) -> tuple[Allowed, ...]:
        """What is silenced, as it is kept."""
        return tuple(
            Allowed(a.code, self.place(a.place), self.place(a.region) if a.region is not None else None)
            for a in allows
        )

    def kept_raises(self, raises: Iterable[Raise]) -> tuple[Raised, ...]:
        """What is raised, as it is kept."""
        return tuple(Raised(r.code, self.place(r.place)) for r in raises)
