"""Finds a pattern in the rows of one key, which come in the order of their time.

Every row may begin a match. The rows that have begun one wait in order, each with all ways in which the
rows since then can be mapped to variables; the first of them that is complete, with nothing unfinished
before it, is a match, and takes those away that AFTER MATCH SKIP passes over. Of the ways of one beginning,
the one that ends first counts; of those that end with the same row, the one that the pattern prefers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from compiler.jobplan.operators.match import Match, Navigation
from runtime.match.automaton import ACCEPT, Automaton, Move, build_automaton
from runtime.match.steps import Lookback, Row, Step
from runtime.match.terms import Evaluate, TermCompiler

Way = tuple[int, Step]
"""The rows since a beginning, mapped to variables: where in the pattern the latest is, and its step."""

Values = tuple[Any, ...]
"""What a match hands out."""

_NOTHING: Sequence[Values] = ()


class SkipProblem(Exception):
    """AFTER MATCH SKIP leads nowhere: to the first row of the match, or to a variable without rows."""


class Beginning(Struct, gc=False):
    """A row that may begin a match: its number and time, and what has become of it."""

    number: int
    time: int
    ways: list[Way]
    complete: Step | None = None


class Partial(Struct, gc=False):
    """What a key keeps: the beginnings in order, and the number of the next row."""

    beginnings: list[Beginning] = field(default_factory=list)
    next_number: int = 0


_Test = tuple[int, Evaluate | None]
"""A variable and its condition."""

_Turn = tuple[tuple[_Test, ...], int, int, bool]
"""A move as the matcher makes it: the variables that bar it and, last, its own; this one once more; the
position that it leads to; whether the match may end there."""

_Take = Callable[[Step | None, Row, list[Way]], Step | None]
"""Adds the ways on which a row can be taken after a step, preferred ones first, or gives the step that ends
the match."""


class Matcher:
    """The automaton of an operator with its conditions.

    Args:
        op: the operator.
        columns: names of the columns of a row, in order. Times are in microseconds.
    """

    def __init__(self, op: Match, columns: tuple[str, ...]) -> None:
        automaton = build_automaton(op.pattern)
        self.variables = variables = automaton.variables
        """Names of the pattern's variables, by number."""
        terms = TermCompiler(columns, variables)
        self.lookback = terms.lookback
        """What steps keep at hand."""
        known = {each.variable: terms.condition(each.variable, each.term) for each in op.conditions}
        conditions = [known.get(name) for name in variables]
        self._outputs = tuple(terms.output(output.term) for output in op.outputs)
        self._within = op.within_ms * 1000 if op.within_ms is not None else None
        self._skip = op.skip
        self._skip_to = None
        if op.skip.variable is not None:
            to = variables.index(op.skip.variable)
            self._skip_to = self.lookback.first(to) if op.skip.mode == "to_first" else self.lookback.last(to)
        # Only now is all known that a step has to keep.
        self._start = _taker(_turns(automaton, automaton.start, conditions), self.lookback)
        self._takes = tuple(
            _taker(_turns(automaton, moves, conditions), self.lookback) for moves in automaton.moves
        )
        # If no condition looks back, what two ways have in common is all that the future depends on.
        self._forgets = all(_only_current(each.term, each.variable) for each in op.conditions)

    def process(self, partial: Partial, row: Row, time: int) -> Sequence[Values]:
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
        settled = False
        if partial.beginnings:
            if self._within is not None and partial.beginnings[0].time <= time - self._within:
                self.expire(partial, time)
            for beginning in partial.beginnings:
                if beginning.complete is None:
                    settled = self._continue(beginning, row) or settled
        ways: list[Way] = []
        complete = self._start(None, row, ways)
        if complete is not None:
            partial.beginnings.append(Beginning(number, time, [], complete))
            settled = True
        elif ways:
            partial.beginnings.append(Beginning(number, time, ways))
        return self.matches(partial) if settled else _NOTHING

    def expire(self, partial: Partial, time: int) -> None:
        """Gives up what a row of that time, or a later one, would come too late for."""
        if self._within is None:
            return
        begun = time - self._within
        for beginning in partial.beginnings:
            if beginning.time > begun:
                break  # and so are those behind it
            if beginning.complete is None:
                beginning.ways = []

    def finish(self, partial: Partial) -> Sequence[Values]:
        """Ends the key's rows: what is unfinished now never will be, and no longer stands before a match."""
        for beginning in partial.beginnings:
            beginning.ways = []
        return self.matches(partial)

    def matches(self, partial: Partial) -> Sequence[Values]:
        """The matches before which nothing is unfinished."""
        waiting = partial.beginnings = [b for b in partial.beginnings if b.ways or b.complete is not None]
        found: list[Values] = []
        while waiting and (done := waiting[0].complete) is not None:
            found.append(tuple([output(done) for output in self._outputs]))
            resume = self._resume(waiting[0].number, done)
            waiting = partial.beginnings = [b for b in waiting if b.number >= resume]
        return found

    def _resume(self, start: int, done: Step) -> int:
        """The number of the first row that may begin the next match."""
        if self._skip.mode == "past_last_row":
            return start + done.size
        if self._skip_to is None:
            return start + 1
        to = self._skip_to(done)
        if to is None:
            raise SkipProblem(f"the match has no row of {self._skip.variable} to skip to")
        if to.previous is None:
            raise SkipProblem(f"skipping to {self._skip.variable} leads to the match's own first row")
        return start + to.size - 1

    def _continue(self, beginning: Beginning, row: Row) -> bool:
        """Whether a row completes the beginning, with the first way that may end, or leaves it no way."""
        ways: list[Way] = []
        for position, step in beginning.ways:
            complete = self._takes[position](step, row, ways)
            if complete is not None:
                beginning.complete, beginning.ways = complete, []
                return True
        beginning.ways = _distinct(ways) if self._forgets and len(ways) > 1 else ways
        return not ways


def _turns(
    automaton: Automaton, moves: Iterable[Move], conditions: Sequence[Evaluate | None]
) -> tuple[_Turn, ...]:
    """The moves that take a row, but for those that their own variable bars."""
    found: list[_Turn] = []
    for move in moves:
        if move.target != ACCEPT and (own := automaton.labels[move.target]) not in move.unless:
            tests = tuple((variable, conditions[variable]) for variable in (*sorted(move.unless), own))
            found.append((tests, own, move.target, automaton.accepts(move.target)))
    return tuple(found)


def _taker(turns: tuple[_Turn, ...], lookback: Lookback) -> _Take:
    """How a row is taken at a position, whose moves are `turns`."""
    before_all, after = lookback.before_all(), lookback.after

    def take(before: Step | None, row: Row, ways: list[Way]) -> Step | None:
        if before is None:
            size, (last, first) = 1, before_all
        else:
            size, (last, first) = before.size + 1, after(before)
        taken: dict[int, Step | None] = {}
        for tests, own, target, accepts in turns:
            step = None
            variable = own
            for variable, condition in tests:
                if variable in taken:
                    step = taken[variable]
                else:
                    step = Step(row, variable, before, size, last, first)
                    if condition is not None and condition(step) is not True:
                        step = None
                    taken[variable] = step
                if step is not None:
                    break
            if step is not None and variable == own:
                if accepts:
                    return step
                ways.append((target, step))
        return None

    choices = tuple((*tests[-1], target, accepts) for tests, _, target, accepts in turns)

    def take_first(before: Step | None, row: Row, ways: list[Way]) -> Step | None:
        if before is None:
            size, (last, first) = 1, before_all
        else:
            size, (last, first) = before.size + 1, after(before)
        for variable, condition, target, accepts in choices:
            step = Step(row, variable, before, size, last, first)
            if condition is None or condition(step) is True:
                if accepts:
                    return step
                ways.append((target, step))
                return None
        return None

    # Each row is offered to each way, so this is worth a case: one move, or a greedy loop and what follows.
    return take_first if _each_bars_those_behind(turns) else take


def _each_bars_those_behind(turns: tuple[_Turn, ...]) -> bool:
    """Whether at most one of the moves can be made: the first whose variable takes the row."""
    before: set[int] = set()
    for tests, own, _, _ in turns:
        if {variable for variable, _ in tests[:-1]} != before:
            return False
        before.add(own)
    return True


def _distinct(ways: list[Way]) -> list[Way]:
    """The first way to each position."""
    kept: dict[int, Way] = {}
    for way in ways:
        kept.setdefault(way[0], way)
    return list(kept.values())


def _only_current(term: Any, variable: str) -> bool:
    """Whether a condition of a variable looks at the row to be taken and no other."""
    if isinstance(term, Navigation):
        return term.anchor == "last" and term.offset == 0 and term.variable in (variable, "")
    args = getattr(term, "args", None)
    if args is None:
        return not hasattr(term, "function")
    return all(_only_current(arg, variable) for arg in args)
