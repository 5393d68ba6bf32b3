"""The rows of a possible match, each with the variable that took it: a list shared by its continuations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

Row = tuple[Any, ...]


class Step(Struct):
    """A row, its variable, and the steps before it.

    The garbage collector knows of them although they make no cycles: what it does not know of is freed by
    recursion, and a match of some hundred thousand rows would overflow the stack.

    Args:
        row: its values.
        variable: the number of the variable that took it.
        previous: the step before it.
        size: how many steps there are, this one included.
        last: for each variable that something looks back to, the latest of the steps before this one.
        first: likewise the earliest.
        memo: what aggregates have come to at this step.
    """

    row: Row
    variable: int
    previous: Step | None
    size: int
    last: Steps
    first: Steps
    memo: dict[int, Any] | None = None

    def path(self) -> list[int]:
        """The variables of all steps, from the first on."""
        found: list[int] = []
        step: Step | None = self
        while step is not None:
            found.append(step.variable)
            step = step.previous
        found.reverse()
        return found


Steps = tuple[Step | None, ...]
Lookup = Callable[[Step], Step | None]


class Lookback:
    """Which earlier steps a step keeps at hand: those that conditions, measures and SKIP ask for.

    All is asked for before the first step is made.

    Args:
        variables: how many variables the pattern has; this number stands for all of them.
    """

    def __init__(self, variables: int) -> None:
        self._every = variables
        self._last: list[int] = []
        self._first: list[int] = []
        # For each variable, the places of the tuples that its steps are put into.
        self._updates_last: list[tuple[int, ...]] = [()] * variables
        self._updates_first: list[tuple[int, ...]] = [()] * variables

    def last(self, variable: int) -> Lookup:
        """What finds a variable's latest step so far."""
        if variable == self._every:
            return lambda step: step
        place = self._place(self._last, self._updates_last, variable)
        return lambda step: step if step.variable == variable else step.last[place]

    def first(self, variable: int) -> Lookup:
        """What finds its earliest."""
        place = self._place(self._first, self._updates_first, variable)
        if variable == self._every:
            return lambda step: step.first[place] or step
        return lambda step: step.first[place] or (step if step.variable == variable else None)

    def earlier(self, variable: int) -> Lookup:
        """What finds, from a step of the variable, the one before it."""
        if variable == self._every:
            return lambda step: step.previous
        place = self._place(self._last, self._updates_last, variable)
        return lambda step: step.last[place]

    def nth_last(self, variable: int, offset: int) -> Lookup:
        """What finds the step `offset` steps before the variable's last."""
        last, earlier = self.last(variable), self.earlier(variable)

        def nth(step: Step) -> Step | None:
            found = last(step)
            for _ in range(offset):
                if found is None:
                    return None
                found = earlier(found)
            return found

        return last if offset == 0 else nth

    def nth_first(self, variable: int, offset: int) -> Lookup:
        """What finds the step `offset` steps after the variable's first."""
        if offset == 0:
            return self.first(variable)
        last, earlier = self.last(variable), self.earlier(variable)

        def nth(step: Step) -> Step | None:
            steps: list[Step] = []
            found = last(step)
            while found is not None:
                steps.append(found)
                found = earlier(found)
            return steps[-1 - offset] if len(steps) > offset else None

        return nth

    def before_all(self) -> tuple[Steps, Steps]:
        """`last` and `first` of a step that is the first of all."""
        return (None,) * len(self._last), (None,) * len(self._first)

    def after(self, before: Step) -> tuple[Steps, Steps]:
        """`last` and `first` of the steps that follow one."""
        last, first, variable = before.last, before.first, before.variable
        for place in self._updates_last[variable]:
            if len(last) == 1:
                last = (before,)
            elif len(last) == 2:
                last = (last[0], before) if place else (before, last[1])
            else:
                last = (*last[:place], before, *last[place + 1 :])
        for place in self._updates_first[variable]:
            if first[place] is None:
                first = (*first[:place], before, *first[place + 1 :])
        return last, first

    def _place(self, kept: list[int], updates: list[tuple[int, ...]], variable: int) -> int:
        if variable in kept:
            return kept.index(variable)
        kept.append(variable)
        place = len(kept) - 1
        for number in range(self._every) if variable == self._every else (variable,):
            updates[number] = (*updates[number], place)
        return place
