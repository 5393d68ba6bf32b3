"""Finds a pattern in the rows of one key, which come in the order of their time.

Every row may begin a match. The rows that have begun one wait in order, each with all ways in which the
rows since then can be mapped to variables; the first of them that is complete, with nothing unfinished
before it, is a match, and takes those away that AFTER MATCH SKIP passes over. Of the ways of one beginning,
the one that ends first counts; of those that end with the same row, the one that the pattern prefers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from compiler.jobplan.operators.match import Match, Navigation
from runtime.match.automaton import ACCEPT, Automaton, Move, build_automaton
from runtime.match.steps import Row, Step
from runtime.match.terms import TermCompiler


class SkipProblem(Exception):
    """AFTER MATCH SKIP leads nowhere: to the first row of the match, or to a variable without rows."""


@dataclass(slots=True)
class Way:
    """The rows since a beginning, mapped to variables; the latest is at `position` of the pattern."""

    position: int
    step: Step


@dataclass(slots=True)
class Beginning:
    """A row that may begin a match: its number and time, and what has become of it."""

    number: int
    time: int
    ways: list[Way]
    complete: Step | None = None


@dataclass(slots=True)
class Partial:
    """What a key keeps: the beginnings in order, and the number of the next row."""

    beginnings: list[Beginning] = field(default_factory=list)
    next_number: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A match: the values it hands out."""

    values: tuple[Any, ...]


class Matcher:
    """The automaton of an operator with its conditions.

    Args:
        op: the operator.
        columns: names of the columns of a row, in order. Times are in microseconds.
    """

    def __init__(self, op: Match, columns: tuple[str, ...]) -> None:
        self._automaton: Automaton = build_automaton(op.pattern)
        variables = self._automaton.variables
        self._accepts = tuple(map(self._automaton.accepts, range(len(self._automaton.labels))))
        terms = TermCompiler(columns, variables)
        conditions = {each.variable: terms.compile(each.term) for each in op.conditions}
        self._conditions = tuple(conditions.get(name) for name in variables)
        self._outputs = tuple(terms.compile(output.term) for output in op.outputs)
        self._within = op.within_ms * 1000 if op.within_ms is not None else None
        self._skip = op.skip
        self._skip_to = variables.index(op.skip.variable) if op.skip.variable is not None else None
        # If no condition looks back, what two ways have in common is all that the future depends on.
        self._forgets = all(_only_current(each.term, each.variable) for each in op.conditions)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the pattern's variables, by number."""
        return self._automaton.variables

    def process(self, partial: Partial, row: Row, time: int) -> Iterator[Found]:
        """Takes the next row of a key and gives the matches that are certain with it.

        Args:
            partial: the key's state, which is changed.
            row: its values.
            time: its event time in microseconds, not before that of the row before.

        Raises:
            SkipProblem: a match leads nowhere.
            ArithmeticError: a condition cannot be computed.
        """
        number = partial.next_number
        partial.next_number = number + 1
        self.expire(partial, time)
        for beginning in partial.beginnings:
            if beginning.complete is None and beginning.ways:
                self._continue(beginning, row)
        first = self._take(self._automaton.start, None, row)
        if first:
            beginning = Beginning(number, time, first)
            self._settle(beginning)
            partial.beginnings.append(beginning)
        yield from self.matches(partial)

    def expire(self, partial: Partial, time: int) -> None:
        """Gives up what a row of that time, or a later one, would come too late for."""
        if self._within is not None:
            for beginning in partial.beginnings:
                if beginning.complete is None and time - beginning.time >= self._within:
                    beginning.ways = []

    def finish(self, partial: Partial) -> Iterator[Found]:
        """Ends the key's rows: what is unfinished now never will be, and no longer stands before a match."""
        for beginning in partial.beginnings:
            beginning.ways = []
        yield from self.matches(partial)

    def matches(self, partial: Partial) -> Iterator[Found]:
        """The matches before which nothing is unfinished."""
        waiting = partial.beginnings = [b for b in partial.beginnings if b.ways or b.complete is not None]
        while waiting and waiting[0].complete is not None:
            first = waiting[0]
            done = first.complete
            assert done is not None  # looked at above
            yield Found(tuple(output(done) for output in self._outputs))
            resume = self._resume(first.number, done)
            waiting = partial.beginnings = [b for b in waiting if b.number >= resume]

    def _resume(self, start: int, done: Step) -> int:
        """The number of the first row that may begin the next match."""
        everything = done.counts[-1]
        if self._skip.mode == "past_last_row":
            return start + everything
        if self._skip_to is None:
            return start + 1
        to = done.first(self._skip_to) if self._skip.mode == "to_first" else done.last(self._skip_to)
        if to is None:
            raise SkipProblem(f"the match has no row of {self._skip.variable} to skip to")
        if to.previous is None:
            raise SkipProblem(f"skipping to {self._skip.variable} leads to the match's own first row")
        return start + to.counts[-1] - 1

    def _continue(self, beginning: Beginning, row: Row) -> None:
        moves = self._automaton.moves
        ways = [new for way in beginning.ways for new in self._take(moves[way.position], way.step, row)]
        beginning.ways = self._distinct(ways) if self._forgets else ways
        self._settle(beginning)

    def _settle(self, beginning: Beginning) -> None:
        """A beginning is complete with the first of its ways that may end here."""
        for way in beginning.ways:
            if self._accepts[way.position]:
                beginning.complete, beginning.ways = way.step, []
                return

    def _take(self, moves: tuple[Move, ...], before: Step | None, row: Row) -> list[Way]:
        """The ways on which a row can be taken, preferred ones first."""
        taken: dict[int, Step | None] = {}

        def step(variable: int) -> Step | None:
            if variable not in taken:
                candidate = Step(row, variable, before, len(self.variables))
                condition = self._conditions[variable]
                taken[variable] = candidate if condition is None or condition(candidate) is True else None
            return taken[variable]

        found: list[Way] = []
        for move in moves:
            if move.target == ACCEPT:
                continue
            if move.unless and any(step(barred) is not None for barred in move.unless):
                continue
            new = step(self._automaton.labels[move.target])
            if new is not None:
                found.append(Way(move.target, new))
        return found

    @staticmethod
    def _distinct(ways: list[Way]) -> list[Way]:
        kept: dict[int, Way] = {}
        for way in ways:
            kept.setdefault(way.position, way)
        return list(kept.values())


def _only_current(term: Any, variable: str) -> bool:
    """Whether a condition of a variable looks at the row to be taken and no other."""
    if isinstance(term, Navigation):
        return term.anchor == "last" and term.offset == 0 and term.variable in (variable, "")
    args = getattr(term, "args", None)
    if args is None:
        return not hasattr(term, "function")
    return all(_only_current(arg, variable) for arg in args)
