"""From a pattern to an automaton whose moves are in the order in which the pattern prefers them.

The construction is Thompson's, the order of the moves that of a backtracking matcher (R. Cox, "Regular
Expression Matching: the Virtual Machine Approach", 2009). A greedy loop is left only at a row that it could
not take, as Flink's CEP library does: so a match is known as soon as its last row is, and nothing has to be
kept in case that a longer one fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from compiler.jobplan.operators.match import AnyPattern, Choice, Repeat, Sequence, Variable

ACCEPT: Final = -1
"""The target of a move that ends the match."""

_NONE: Final[frozenset[int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Move:
    """A move to a position, allowed at rows that none of the variables `unless` could take."""

    target: int
    unless: frozenset[int]


@dataclass(frozen=True, slots=True)
class Automaton:
    """Positions of a pattern and the moves between them, preferred ones first.

    Args:
        variables: names, by number.
        labels: the variable of each position.
        start: moves to the first row's position.
        moves: for each position those to the next row's.
    """

    variables: tuple[str, ...]
    labels: tuple[int, ...]
    start: tuple[Move, ...]
    moves: tuple[tuple[Move, ...], ...]

    def accepts(self, position: int) -> bool:
        """Whether the match may end with a row at this position."""
        return any(move.target == ACCEPT for move in self.moves[position])


def variables_of(pattern: AnyPattern) -> tuple[str, ...]:
    """The names of a pattern's variables, in the order in which they first stand there."""
    match pattern:
        case Variable(name=name):
            return (name,)
        case Sequence(parts=parts) | Choice(options=parts):
            return tuple(dict.fromkeys(name for part in parts for name in variables_of(part)))
        case Repeat(part=part):
            return variables_of(part)


def build_automaton(pattern: AnyPattern) -> Automaton:
    """The automaton of a pattern."""
    variables = variables_of(pattern)
    program = _Program({name: number for number, name in enumerate(variables)})
    program.emit(pattern)
    accept = program.append(None)
    takes = [at for at, step in enumerate(program.steps) if isinstance(step, int)]
    position = {at: number for number, at in enumerate(takes)} | {accept: ACCEPT}
    return Automaton(
        variables=variables,
        labels=tuple(int(program.steps[at]) for at in takes),  # type: ignore[arg-type]  # a take, see above
        start=program.closure(0, position),
        moves=tuple(program.closure(at + 1, position) for at in takes),
    )


@dataclass
class _Branch:
    """Goes on at several places, preferred ones first, each unless one of its variables takes the row."""

    targets: list[tuple[int, frozenset[int]]]


@dataclass
class _Program:
    """Steps: a variable's number takes a row, a branch goes on elsewhere, None accepts."""

    numbers: dict[str, int]
    steps: list[int | _Branch | None] = field(default_factory=list)

    def append(self, step: int | _Branch | None) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def emit(self, pattern: AnyPattern) -> None:
        match pattern:
            case Variable(name=name):
                self.append(self.numbers[name])
            case Sequence(parts=parts):
                for part in parts:
                    self.emit(part)
            case Choice(options=options):
                self._choice(options)
            case Repeat():
                self._repeat(pattern)

    def _choice(self, options: tuple[AnyPattern, ...]) -> None:
        fork = _Branch([])
        self.append(fork)
        ends: list[_Branch] = []
        for option in options:
            fork.targets.append((len(self.steps), _NONE))
            self.emit(option)
            ends.append(_Branch([]))
            self.append(ends[-1])
        for end in ends:
            end.targets.append((len(self.steps), _NONE))

    def _repeat(self, repeat: Repeat) -> None:
        for _ in range(repeat.least):
            self.emit(repeat.part)
        barred = self._first(repeat.part)[0] if repeat.is_greedy_loop else _NONE
        exits: list[_Branch] = []
        for _ in range(1 if repeat.most is None else repeat.most - repeat.least):
            fork = _Branch([])
            at = self.append(fork)
            fork.targets.append((at + 1, _NONE))
            exits.append(fork)
            self.emit(repeat.part)
            if repeat.most is None:
                self.append(_Branch([(at, _NONE)]))
        for fork in exits:
            fork.targets.insert(1 if repeat.greedy else 0, (len(self.steps), barred))

    def _first(self, pattern: AnyPattern) -> tuple[frozenset[int], bool]:
        """The variables that may take a part's first row, and whether the part may be empty."""
        match pattern:
            case Variable(name=name):
                return frozenset({self.numbers[name]}), False
            case Sequence(parts=parts):
                found: frozenset[int] = _NONE
                for part in parts:
                    first, empty = self._first(part)
                    found |= first
                    if not empty:
                        return found, False
                return found, True
            case Choice(options=options):
                firsts = [self._first(option) for option in options]
                return frozenset().union(*(first for first, _ in firsts)), any(empty for _, empty in firsts)
            case Repeat(part=part, least=least):
                first, empty = self._first(part)
                return first, empty or least == 0

    def closure(self, at: int, position: dict[int, int]) -> tuple[Move, ...]:
        """The moves that can be made from a place without taking a row on the way."""
        found: list[Move] = []
        pending: list[tuple[int, frozenset[int], frozenset[int]]] = [(at, _NONE, _NONE)]
        while pending:
            place, unless, passed = pending.pop()
            step = self.steps[place]
            if isinstance(step, _Branch):
                # A loop whose body may be empty comes back to where it was.
                if place not in passed:
                    beyond = passed | {place}
                    ways = [(target, unless | barred, beyond) for target, barred in step.targets]
                    pending.extend(reversed(ways))
                continue
            move = Move(position[place], unless)
            if not any(m.target == move.target and m.unless <= move.unless for m in found):
                found.append(move)
        return tuple(found)
