"""What models and sinks ask of the query that will run them: its trigger, its state, its company."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from compiler.analysis.model_options import ModelOptions
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.jobplan.durations import format_ms
from compiler.plan.asked import Asked

V = TypeVar("V")


@frozen(slots=True)
class _Asks:
    """The different values that a relation and all that it reads ask for."""

    triggers: tuple[Asked[int | None], ...] = ()
    parallelisms: tuple[Asked[int], ...] = ()
    isolated: frozenset[str] = frozenset()


@frozen(slots=True)
class SinkSettings:
    """What a sink's query is asked to be.

    Args:
        trigger_ms: its trigger, None for available_now.
        parallelism: its number of state partitions, None if nothing asks for one.
        isolated: names of what wants queries of its own, the sink and all that it reads: sinks share a query
            only if these are the same.
    """

    trigger_ms: int | None
    parallelism: Asked[int] | None
    isolated: frozenset[str]


@dataclass
class QuerySettings:
    """Collects what is asked, models first in the order in which they read each other.

    What a model or sink says itself goes before what the models say that it reads. Where those differ and
    it says nothing, one query cannot do both: HR226.

    Args:
        trigger_ms: the target's trigger, for sinks that nothing else is asked for.
    """

    trigger_ms: int | None
    _asked: dict[str, _Asks] = field(default_factory=dict)

    def add(self, name: str, options: ModelOptions, reads: Iterable[str]) -> None:
        """Notes what a model asks for; `reads` names what it reads."""
        self._asked[name.lower()] = self._of(name, options, reads)

    def sink(
        self, name: str, place: Span, options: ModelOptions, reads: Iterable[str], reporter: Reporter
    ) -> SinkSettings:
        """What a sink's query is asked to be."""
        asks = self._of(name, options, reads)
        trigger = _one("trigger", name, place, asks.triggers, reporter)
        parallelism = _one("parallelism", name, place, asks.parallelisms, reporter)
        trigger_ms = self.trigger_ms if trigger is None else trigger.value
        return SinkSettings(trigger_ms, parallelism, asks.isolated)

    def _of(self, name: str, options: ModelOptions, reads: Iterable[str]) -> _Asks:
        above = [found for name in reads if (found := self._asked.get(name.lower())) is not None]
        return _Asks(
            (options.trigger,) if options.trigger else _different(a for asks in above for a in asks.triggers),
            (options.parallelism,)
            if options.parallelism
            else _different(a for asks in above for a in asks.parallelisms),
            frozenset({name} if options.isolation else ()).union(*(asks.isolated for asks in above)),
        )


def _different(asked: Iterable[Asked[V]]) -> tuple[Asked[V], ...]:
    found: dict[V, Asked[V]] = {}
    for one in asked:
        found.setdefault(one.value, one)
    return tuple(found.values())


def _one(
    option: str, sink: str, place: Span, asked: Sequence[Asked[V]], reporter: Reporter
) -> Asked[V] | None:
    if len(asked) > 1:
        reporter.add(
            Diagnostic(
                codes.CONFLICTING_OPTIONS,
                f"sink `{sink}` reads models of different `{option}`",
                place,
                cause="one query runs them all, and it has one",
                fix=f"say it for the sink: `{option}` in its own options goes first",
                related=tuple(Label(one.place, _shown(option, one.value)) for one in asked),
            )
        )
    return asked[0] if asked else None


def _shown(option: str, value: object) -> str:
    if option == "trigger":
        return f"every {format_ms(value)}" if isinstance(value, int) else "available now"
    return str(value)
