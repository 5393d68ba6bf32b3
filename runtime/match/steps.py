"""The rows of a possible match, each with the variable that took it: a list shared by its continuations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = tuple[Any, ...]


class Step:
    """A row, its variable, and the steps before it.

    `counts[v]` says how many steps variable `v` has so far, `same` is the one of this step's own variable
    before it. The number after the last variable's stands for all of them. `memo` holds what aggregates have
    come to at this step.

    Steps are made for every row and way. They refer to earlier ones only, never to themselves, so that they
    are freed with their match and the garbage collector has nothing to do.
    """

    __slots__ = ("_first", "_last", "counts", "memo", "previous", "row", "variable")

    def __init__(self, row: Row, variable: int, previous: Step | None, variables: int) -> None:
        self.row = row
        self.variable = variable
        self.previous = previous
        self.memo: dict[int, Any] = {}
        # For each variable the earliest and the latest of the steps before this one.
        self._first: Sequence[Step | None]
        self._last: Sequence[Step | None]
        if previous is None:
            counts = [0] * (variables + 1)
            self._first = self._last = (None,) * (variables + 1)
        else:
            of = previous.variable
            counts = [*previous.counts]
            last = [*previous._last]
            last[of] = last[variables] = previous
            self._last = last
            self._first = previous._first
            if previous._first[of] is None:
                first = [*previous._first]
                first[of] = previous
                first[variables] = first[variables] or previous
                self._first = first
        counts[variable] += 1
        counts[variables] += 1
        self.counts: Sequence[int] = counts

    @property
    def same(self) -> Step | None:
        """The step of this one's variable before it."""
        return self._last[self.variable]

    def before(self, every: bool) -> Step | None:
        """The step before this one, of any variable or of its own."""
        return self.previous if every else self.same

    def first(self, variable: int) -> Step | None:
        """The variable's earliest step so far."""
        return self._first[variable] or (self if self._takes(variable) else None)

    def last(self, variable: int) -> Step | None:
        """The variable's latest step so far."""
        return self if self._takes(variable) else self._last[variable]

    def nth_last(self, variable: int, offset: int) -> Step | None:
        """The step `offset` steps before the variable's last."""
        if offset >= self.counts[variable]:
            return None
        every = variable == len(self._last) - 1
        step = self.last(variable)
        for _ in range(offset):
            assert step is not None  # counted above
            step = step.before(every)
        return step

    def nth_first(self, variable: int, offset: int) -> Step | None:
        """The step `offset` steps after the variable's first."""
        if offset == 0:
            return self.first(variable)
        back = self.counts[variable] - 1 - offset
        return self.nth_last(variable, back) if back >= 0 else None

    def path(self) -> list[int]:
        """The variables of all steps, from the first on."""
        found: list[int] = []
        step: Step | None = self
        while step is not None:
            found.append(step.variable)
            step = step.previous
        found.reverse()
        return found

    def _takes(self, variable: int) -> bool:
        return variable in (self.variable, len(self._last) - 1)
