"""Secrets: `${env:NAME}` in options, resolved in memory just before a query is built."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from compiler.diagnostics.codes import MISSING_ENVIRONMENT
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import (
    LateRows,
    LookupTable,
    Operator,
    Options,
    OptionValue,
    Query,
    Scan,
    original,
)

_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass
class Environment:
    """Resolves references, and remembers what must not be shown.

    Args:
        variables: the process's environment, unless a test gives another.
    """

    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _used: dict[str, str] = field(default_factory=dict)

    def missing(self, query: Query) -> list[Diagnostic]:
        """A finding for each variable that the query needs and that is not set."""
        return [found for place, options in _places(query) for found in self._unset(place, options)]

    def spark_conf(self, conf: Mapping[str, str]) -> dict[str, str]:
        """Spark's configuration of a target, resolved.

        Raises:
            DiagnosticError: a variable that it needs is not set.
        """
        found = self._unset("the target's spark", conf)
        if found:
            raise DiagnosticError(*found)
        return {key: self._text(value) for key, value in conf.items()}

    def resolve(self, query: Query) -> Query:
        """The query with its options resolved. It is never written anywhere."""
        return replace(
            query,
            operators=tuple(self._operator(op) for op in query.operators),
            sinks=tuple(replace(sink, options=self._options(sink.options)) for sink in query.sinks),
        )

    def _operator(self, op: Operator) -> Operator:
        if isinstance(op, LateRows):
            return replace(op, scan=replace(op.scan, options=self._options(op.scan.options)))
        return replace(op, options=self._options(op.options)) if isinstance(op, (Scan, LookupTable)) else op

    def mask(self, text: str) -> str:
        """The text with resolved values turned back into references."""
        for name, value in self._used.items():
            # Shorter ones are words of their own far more often than secrets.
            if len(value) >= 4:
                text = text.replace(value, f"${{env:{name}}}")
        return text

    def masked(self, found: Diagnostic) -> Diagnostic:
        """A finding of which all words are masked."""
        return dataclasses.replace(
            found,
            message=self.mask(found.message),
            cause=self.mask(found.cause) if found.cause else None,
            fix=self.mask(found.fix) if found.fix else None,
        )

    def _unset(self, place: str, options: Mapping[str, OptionValue]) -> list[Diagnostic]:
        return [
            Diagnostic(
                MISSING_ENVIRONMENT,
                f"environment variable {name} is not set; option '{key}' of {place} needs it",
                fix=f"set {name} for the process that runs the pipeline",
            )
            for key, value in options.items()
            for name in _REFERENCE.findall(str(value))
            if name not in self.variables
        ]

    def _options(self, options: Options) -> Options:
        return {k: self._text(v) if isinstance(v, str) else v for k, v in options.items()}

    def _text(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            name = match.group(1)
            self._used[name] = self.variables[name]
            return self.variables[name]

        return _REFERENCE.sub(value, text)


def _places(query: Query) -> list[tuple[str, Options]]:
    reads = [op for op in query.operators if isinstance(op, (Scan, LookupTable))]
    scans = [(f"source {original(op.uid)}", op.options) for op in reads]
    return scans + [(f"sink {sink.uid}", sink.options) for sink in query.sinks if not sink.removed]
