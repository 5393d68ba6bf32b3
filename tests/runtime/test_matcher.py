"""The matcher of MATCH_RECOGNIZE against one that tries every mapping of rows to variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.jobplan.operators.match import (
    ALL_ROWS,
    TERM_FUNCTIONS,
    AnyPattern,
    Apply,
    Choice,
    Condition,
    Constant,
    Fold,
    Match,
    Navigation,
    Output,
    Repeat,
    Sequence,
    Skip,
    Variable,
)
from runtime.match.matcher import Matcher, Partial, SkipProblem
from runtime.match.steps import Step
from runtime.match.terms import implemented

History = tuple[tuple[str, int], ...]
"""Rows so far, each with its variable."""

BIGINT = "BIGINT"


def column(variable: str, offset: int = 0, anchor: str = "last") -> Navigation:
    return Navigation("price", variable, anchor, offset, BIGINT)  # type: ignore[arg-type]  # the tests' words


def apply(name: str, *args: object) -> Apply:
    return Apply(name, args, "BOOLEAN")  # type: ignore[arg-type]  # terms


def number(value: int) -> Constant:
    return Constant(value, BIGINT)


# --- the reference ----------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A condition twice: as a term, and over the rows so far with the row in question at the end."""

    term: Apply
    holds: Callable[[str, History], bool]


def _of(variable: str, history: History) -> list[int]:
    return [price for name, price in history if name == variable]


def rules(variable: str) -> list[Rule]:
    """Conditions of a variable, with and without a look back."""
    own = column(variable)
    return [
        Rule(apply("=", own, own), lambda _v, _h: True),
        Rule(apply("<", own, number(3)), lambda _, h: h[-1][1] < 3),
        Rule(apply(">=", own, number(2)), lambda _, h: h[-1][1] >= 2),
        Rule(
            apply(
                "OR",
                apply("IS NULL", column(variable, 1)),
                apply(">", own, column(variable, 1)),
            ),
            lambda v, h: len(_of(v, h)) < 2 or h[-1][1] > _of(v, h)[-2],
        ),
        Rule(
            apply("<", Fold("sum", "price", variable, BIGINT), number(7)),
            lambda v, h: sum(_of(v, h)) < 7,
        ),
        Rule(
            apply("<=", Fold("count", None, ALL_ROWS, BIGINT), number(3)),
            lambda _, h: len(h) <= 3,
        ),
        Rule(
            apply(">", own, column("A", 0, "first")),
            lambda _, h: bool(_of("A", h)) and h[-1][1] > _of("A", h)[0],
        ),
        Rule(
            apply("<>", own, column(ALL_ROWS, 1)),
            lambda _, h: len(h) > 1 and h[-1][1] != h[-2][1],
        ),
    ]


@dataclass(frozen=True)
class Reference:
    """Tries all mappings, by backtracking over the pattern itself."""

    conditions: dict[str, Rule]
    prices: list[int]

    def takes(self, variable: str, history: History, at: int) -> bool:
        rule = self.conditions.get(variable)
        return rule is None or rule.holds(variable, (*history, (variable, self.prices[at])))

    def could_begin(self, part: AnyPattern, history: History, at: int) -> tuple[bool, bool]:
        """Whether a row could be the first of a part, and whether the part may be empty."""
        match part:
            case Variable(name=name):
                return self.takes(name, history, at), False
            case Sequence(parts=parts):
                for each in parts:
                    begins, empty = self.could_begin(each, history, at)
                    if begins or not empty:
                        return begins, empty
                return False, True
            case Choice(options=options):
                answers = [self.could_begin(option, history, at) for option in options]
                return any(b for b, _ in answers), any(e for _, e in answers)
            case Repeat(part=inner, least=least):
                begins, empty = self.could_begin(inner, history, at)
                return begins, empty or least == 0

    def ways(
        self, part: AnyPattern, at: int, history: History, left: tuple[AnyPattern, ...]
    ) -> Iterator[tuple[int, History, tuple[AnyPattern, ...]]]:
        """Every way to match a part from a row on; `left` are the greedy loops that have just been left."""
        match part:
            case Variable(name=name):
                barred = at == len(self.prices) or any(
                    self.could_begin(each, history, at)[0] for each in left
                )
                if not barred and self.takes(name, history, at):
                    yield at + 1, (*history, (name, self.prices[at])), ()
            case Sequence(parts=parts):
                if not parts:
                    yield at, history, left
                    return
                for to, longer, open_ in self.ways(parts[0], at, history, left):
                    yield from self.ways(Sequence(parts[1:]), to, longer, open_)
            case Choice(options=options):
                for option in options:
                    yield from self.ways(option, at, history, left)
            case Repeat():
                yield from self.rounds(part, 0, at, history, left)

    def rounds(
        self, part: Repeat, done: int, at: int, history: History, left: tuple[AnyPattern, ...]
    ) -> Iterator[tuple[int, History, tuple[AnyPattern, ...]]]:
        def another() -> Iterator[tuple[int, History, tuple[AnyPattern, ...]]]:
            if part.most is None or done < part.most:
                for to, longer, open_ in self.ways(part.part, at, history, left):
                    # A round without a row could go on for ever, and changes nothing once there are enough.
                    if to > at or done < part.least:
                        yield from self.rounds(part, done + 1, to, longer, open_)

        if done < part.least:
            yield from another()
            return
        loops = part.greedy and part.least != part.most and (part.least, part.most) != (0, 1)
        barred = (part.part,) if loops and done != part.most else ()
        if part.greedy:
            yield from another()
        yield at, history, (*left, *barred)
        if not part.greedy:
            yield from another()

    def first_match(
        self, pattern: AnyPattern, start: int, times: list[int], within: int | None
    ) -> History | None:
        found = [
            (to, history)
            for to, history, left in self.ways(pattern, start, (), ())
            if to > start and (within is None or times[to - 1] - times[start] < within)
        ]
        return min(found, key=lambda way: way[0])[1] if found else None

    def matches(
        self, pattern: AnyPattern, skip: Skip, times: list[int], within: int | None
    ) -> list[tuple[int, History]]:
        found: list[tuple[int, History]] = []
        start = 0
        while start < len(self.prices):
            match_ = self.first_match(pattern, start, times, within)
            if match_ is None:
                start += 1
                continue
            found.append((start, match_))
            start = resume(skip, start, match_)
        return found


def resume(skip: Skip, start: int, match_: History) -> int:
    if skip.mode == "past_last_row":
        return start + len(match_)
    if skip.mode == "to_next_row":
        return start + 1
    at = [place for place, (name, _) in enumerate(match_) if name == skip.variable]
    if not at:
        raise SkipProblem
    to = at[0] if skip.mode == "to_first" else at[-1]
    if to == 0:
        raise SkipProblem
    return start + to


# --- generated --------------------------------------------------------------

VARIABLES = ("A", "B", "C")

_variable = st.sampled_from([Variable(name) for name in VARIABLES])


@st.composite
def _repeat(draw: st.DrawFn, parts: st.SearchStrategy[AnyPattern]) -> Repeat:
    least = draw(st.integers(0, 2))
    most = draw(st.none() | st.integers(max(least, 1), 3))
    return Repeat(draw(parts), least, most, draw(st.booleans()))


_patterns: st.SearchStrategy[AnyPattern] = st.recursive(
    _variable,
    lambda parts: st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(lambda found: Sequence(tuple(found))),
        st.lists(parts, min_size=2, max_size=2).map(lambda found: Choice(tuple(found))),
        _repeat(parts),
    ),
    max_leaves=4,
)


def may_be_empty(pattern: AnyPattern) -> bool:
    match pattern:
        case Variable():
            return False
        case Sequence(parts=parts):
            return all(map(may_be_empty, parts))
        case Choice(options=options):
            return any(map(may_be_empty, options))
        case Repeat(part=part, least=least):
            return least == 0 or may_be_empty(part)


_skips = st.sampled_from(
    [Skip("past_last_row"), Skip("to_next_row"), Skip("to_first", "C"), Skip("to_last", "B")]
)


def operator(
    pattern: AnyPattern, conditions: dict[str, Apply], skip: Skip, within_ms: int | None = None
) -> Match:
    names = dict.fromkeys(_names(pattern))
    return Match(
        id="o1",
        uid="m.match",
        inputs=("o0",),
        key_columns=(),
        time_column="time",
        delay_ms=0,
        order=(),
        reads=(),
        pattern=pattern,
        conditions=tuple(Condition(name, term) for name, term in conditions.items() if name in names),
        skip=skip,
        within_ms=within_ms,
        outputs=(
            *(Output(name, Fold("count", None, name, BIGINT)) for name in names),
            Output("first", column(ALL_ROWS, 0, "first")),
            Output("last", column(ALL_ROWS)),
            Output("sum", Fold("sum", "price", ALL_ROWS, BIGINT)),
        ),
        measures=(),
        buckets=1,
    )


def _names(pattern: AnyPattern) -> list[str]:
    match pattern:
        case Variable(name=name):
            return [name]
        case Sequence(parts=parts) | Choice(options=parts):
            return [name for part in parts for name in _names(part)]
        case Repeat(part=part):
            return _names(part)


def expected_row(pattern: AnyPattern, match_: History) -> tuple[int, ...]:
    prices = [price for _, price in match_]
    names = dict.fromkeys(_names(pattern))
    return (*(len(_of(name, match_)) for name in names), prices[0], prices[-1], sum(prices))


def run(op: Match, prices: list[int], times: list[int]) -> list[tuple[object, ...]]:
    matcher, partial = Matcher(op, ("price",)), Partial()
    found = [
        match_
        for price, time in zip(prices, times, strict=True)
        for match_ in matcher.process(partial, (price,), time)
    ]
    return [*found, *matcher.finish(partial)]


@settings(max_examples=400, deadline=None)
@given(
    pattern=_patterns.filter(lambda pattern: not may_be_empty(pattern)),
    chosen=st.lists(st.integers(0, 8), min_size=3, max_size=3),
    prices=st.lists(st.integers(0, 5), max_size=7),
    skip=_skips,
    within=st.none() | st.integers(1, 4),
)
def test_like_trying_everything(
    pattern: AnyPattern, chosen: list[int], prices: list[int], skip: Skip, within: int | None
) -> None:
    names = _names(pattern)
    if skip.variable is not None and skip.variable not in names:
        skip = Skip("to_next_row")
    conditions = {name: rules(name)[rule] for name, rule in zip(VARIABLES, chosen, strict=True) if rule < 8}
    # The rule that looks at A's first row needs an A.
    conditions = {n: r for n, r in conditions.items() if chosen[VARIABLES.index(n)] != 6 or "A" in names}
    times = [index * 1000 for index in range(len(prices))]
    op = operator(pattern, {name: rule.term for name, rule in conditions.items()}, skip, within)
    reference = Reference(conditions, prices)
    limit = within * 1000 if within is not None else None
    try:
        wanted = reference.matches(pattern, skip, times, limit)
    except SkipProblem:
        with pytest.raises(SkipProblem):
            run(op, prices, times)
        return
    assert run(op, prices, times) == [expected_row(pattern, match_) for _, match_ in wanted]


# --- by hand ----------------------------------------------------------------

A, B, C = (Variable(name) for name in VARIABLES)
PRICES = [7, 9, 10, 5, 10, 7, 14]
SUM_BELOW_30 = {"A": apply("<", Fold("sum", "price", "A", BIGINT), number(30))}


@pytest.mark.parametrize(
    ("skip", "sums"),
    [
        (Skip("past_last_row"), [26, 17]),
        (Skip("to_next_row"), [26, 24, 25, 22, 17]),
        (Skip("to_last", "A"), [26, 25, 17]),
    ],
    ids=lambda value: getattr(value, "mode", None),
)
def test_skipping_as_flink_documents_it(skip: Skip, sums: list[int]) -> None:
    pattern = Sequence((Repeat(A, 1, None, True), C))
    op = operator(pattern, SUM_BELOW_30, skip)
    rows = run(op, PRICES, list(range(7)))
    # The sum over all rows includes C, which the documentation's does not.
    assert [total - last for *_, last, total in rows] == sums  # type: ignore[operator]  # numbers


def test_skipping_to_the_first_row_of_the_match_fails() -> None:
    op = operator(Sequence((Repeat(A, 1, None, True), C)), SUM_BELOW_30, Skip("to_first", "A"))
    with pytest.raises(SkipProblem, match="own first row"):
        run(op, PRICES, list(range(7)))


@pytest.mark.parametrize(("greedy", "last"), [(True, [16]), (False, [13, 16])])
def test_greedy_and_reluctant_as_flink_documents_it(greedy: bool, last: list[int]) -> None:
    conditions = {
        "A": apply(">", column("A"), number(10)),
        "B": apply("<", column("B"), number(15)),
        "C": apply(">", column("C"), number(12)),
    }
    op = operator(Sequence((A, Repeat(B, 0, None, greedy), C)), conditions, Skip("past_last_row"))
    rows = run(op, [10, 11, 12, 13, 14, 16], list(range(6)))
    assert [row[-2] for row in rows] == last


def test_a_long_match_is_freed_without_recursion() -> None:
    step: Step | None = None
    for size in range(1, 1_000_001):
        step = Step((), 0, step, size, (), ())
    # Freed by recursion it would end the process.
    del step


def test_the_compiler_lets_through_what_the_runtime_can_compute() -> None:
    assert implemented() == frozenset(TERM_FUNCTIONS)
