"""The rows of a possible match, each with the variable that took it: a list shared by its continuations."""

from __future__ import annotations

from typing import Any

Row = tuple[Any, ...]


class Step:
    """A row, its variable, and the steps before it.

    `first[v]` and `last[v]` are the earliest and the latest step of variable `v` so far, `counts[v]` says how
    many there are, `same` is the one of this step's own variable before it. The number after the last
    variable's stands for all of them. `memo` holds what aggregates have come to at this step.
    """

    __slots__ = ("counts", "first", "last", "memo", "previous", "row", "same", "variable")

    def __init__(self, row: Row, variable: int, previous: Step | None, variables: int) -> None:
        self.first: tuple[Step | None, ...]
        self.last: tuple[Step | None, ...]
        self.counts: tuple[int, ...]
        self.row = row
        self.variable = variable
        self.previous = previous
        self.memo: dict[int, Any] = {}
        if previous is None:
            first: list[Step | None] = [None] * (variables + 1)
            last = list(first)
            counts = [0] * (variables + 1)
        else:
            first, last, counts = list(previous.first), list(previous.last), list(previous.counts)
        self.same = last[variable]
        for number in (variable, variables):
            first[number] = first[number] or self
            last[number] = self
            counts[number] += 1
        self.first = tuple(first)
        self.last = tuple(last)
        self.counts = tuple(counts)

    def before(self, every: bool) -> Step | None:
        """The step before this one, of any variable or of its own."""
        return self.previous if every else self.same

    def nth_last(self, variable: int, offset: int) -> Step | None:
        """The step `offset` steps before the variable's last."""
        if offset >= self.counts[variable]:
            return None
        every = variable == len(self.last) - 1
        step = self.last[variable]
        for _ in range(offset):
            assert step is not None  # counted above
            step = step.before(every)
        return step

    def nth_first(self, variable: int, offset: int) -> Step | None:
        """The step `offset` steps after the variable's first."""
        if offset == 0:
            return self.first[variable]
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
