"""Terms of a job plan as Python functions of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from compiler.jobplan.operators.match import ALL_ROWS, AnyTerm, Apply, Constant, Fold, Navigation
from runtime.match.scalars import COMPARISONS, FUNCTIONS, compare, divide, fitter, function, plus
from runtime.match.steps import Lookback, Lookup, Step

Evaluate = Callable[[Step], Any]


class TermCompiler:
    """Makes functions of terms.

    Args:
        columns: the place of each column in a row.
        variables: names, by number; a variable that the pattern does not have takes no row.
    """

    def __init__(self, columns: tuple[str, ...], variables: tuple[str, ...]) -> None:
        self._columns = {name: place for place, name in enumerate(columns)}
        self._numbers: Mapping[str, int] = {name: number for number, name in enumerate(variables)}
        self._every = len(variables)
        self._folds: dict[Fold, Evaluate] = {}
        self.lookback = Lookback(len(variables))
        """What steps have to keep for the functions that were made."""

    def condition(self, variable: str, term: AnyTerm) -> Evaluate:
        """The function that gives a condition's value at the step that it is asked about, the variable's."""
        return self._compile(term, self._numbers[variable])

    def output(self, term: AnyTerm) -> Evaluate:
        """The function that gives a term's value at the last step of a match."""
        return self._compile(term, None)

    def _compile(self, term: AnyTerm, own: int | None) -> Evaluate:
        match term:
            case Constant():
                value = _decimal(term)
                return lambda _: value
            case Navigation():
                return self._navigation(term, own)
            case Fold():
                return self._fold(term, remember=own is not None)
            case Apply(function=name, args=args, type=type_):
                compiled = [self._compile(arg, own) for arg in args]
                lazy = _LAZY.get(name)
                if lazy is not None:
                    return lazy(compiled)
                holds = COMPARISONS.get(name)
                if holds is not None and not any(arg.type in ("FLOAT", "DOUBLE") for arg in args):
                    return _comparison(holds, compiled)
                return _apply(function(name, type_), compiled)

    def _variable(self, name: str) -> int:
        return self._every if name == ALL_ROWS else self._numbers[name]

    def _navigation(self, term: Navigation, own: int | None) -> Evaluate:
        variable, offset, place = self._variable(term.variable), term.offset, self._columns[term.column]
        missing = self._columns[term.missing] if term.missing is not None else None
        if term.anchor == "last" and variable in (own, self._every):
            if offset == 0:
                return lambda step: step.row[place]
            if offset == 1:
                return _column(self.lookback.earlier(variable), place, missing)
        nth = self.lookback.nth_first if term.anchor == "first" else self.lookback.nth_last
        return _column(nth(variable, offset), place, missing)

    def _fold(self, term: Fold, *, remember: bool) -> Evaluate:
        """Conditions ask at each step, and so remember; a measure is asked for once.

        Conditions come first, so that measures find what they remember.
        """
        if term not in self._folds:
            self._folds[term] = self._made_fold(term, len(self._folds), remember)
        return self._folds[term]

    def _made_fold(self, term: Fold, key: int, remember: bool) -> Evaluate:
        variable = self._variable(term.variable)
        if term.function == "count" and term.column is None and variable == self._every:
            return lambda step: step.size
        last, earlier = self.lookback.last(variable), self.lookback.earlier(variable)
        place = self._columns[term.column] if term.column is not None else None
        initial, add, finish = _FOLDS[term.function](term.type)

        def fold(step: Step) -> Any:
            pending: list[Step] = []
            found = last(step)
            while found is not None and (found.memo is None or key not in found.memo):
                pending.append(found)
                found = earlier(found)
            total = initial if found is None or found.memo is None else found.memo[key]
            for each in reversed(pending):
                value = True if place is None else each.row[place]
                total = total if value is None else add(total, value)
                if remember:
                    each.memo = {} if each.memo is None else each.memo
                    each.memo[key] = total
            return finish(total)

        return fold


def _column(lookup: Lookup, place: int, missing: int | None) -> Evaluate:
    """A column of a step that may not be there; then it is another column of the current one, or NULL."""

    def column(step: Step) -> Any:
        found = lookup(step)
        if found is None:
            return None if missing is None else step.row[missing]
        return found.row[place]

    return column


def _decimal(term: Constant) -> Any:
    # JSON has no decimals: they come as text.
    return (
        Decimal(term.value) if term.type.startswith("DECIMAL") and isinstance(term.value, str) else term.value
    )


def _comparison(holds: Callable[[Any, Any], bool], args: list[Evaluate]) -> Evaluate:
    """Of values that are no floating numbers, which could be NaN; conditions compare every row."""
    first, second = args

    def compared(step: Step) -> bool | None:
        left = first(step)
        if left is None:
            return None
        right = second(step)
        return None if right is None else holds(left, right)

    return compared


def _apply(call: Callable[..., Any], args: list[Evaluate]) -> Evaluate:
    if len(args) == 1:
        (only,) = args
        return lambda step: call(only(step))
    if len(args) == 2:
        first, second = args
        return lambda step: call(first(step), second(step))
    return lambda step: call(*(arg(step) for arg in args))


# --- what does not look at an argument that does not matter: it could fail -----


def _and(args: list[Evaluate]) -> Evaluate:
    first, second = args

    def both(step: Step) -> bool | None:
        left = first(step)
        if left is False:
            return False
        right = second(step)
        return False if right is False else None if left is None else right

    return both


def _or(args: list[Evaluate]) -> Evaluate:
    first, second = args

    def either(step: Step) -> bool | None:
        left = first(step)
        if left is True:
            return True
        right = second(step)
        return True if right is True else None if left is None else right

    return either


def _case(args: list[Evaluate]) -> Evaluate:
    *pairs, otherwise = args
    branches = list(zip(pairs[::2], pairs[1::2], strict=True))

    def case(step: Step) -> Any:
        for when, then in branches:
            if when(step) is True:
                return then(step)
        return otherwise(step)

    return case


def _coalesce(args: list[Evaluate]) -> Evaluate:
    if len(args) == 2:
        first, second = args

        def known_or(step: Step) -> Any:
            value = first(step)
            return second(step) if value is None else value

        return known_or

    def first_known(step: Step) -> Any:
        for arg in args:
            value = arg(step)
            if value is not None:
                return value
        return None

    return first_known


_LAZY: dict[str, Callable[[list[Evaluate]], Evaluate]] = {
    "AND": _and,
    "OR": _or,
    "case": _case,
    "if": _case,
    "coalesce": _coalesce,
    "ifnull": _coalesce,
    "nvl": _coalesce,
}
"""AND, OR, CASE and COALESCE, which Spark too evaluates from the left as far as needed."""


def implemented() -> frozenset[str]:
    """The names that conditions may use, for the test that compares them with the compiler's."""
    return frozenset(_LAZY) | frozenset(FUNCTIONS)


# --- aggregates: the start, a further value, the result ----------------------

_Fold = tuple[Any, Callable[[Any, Any], Any], Callable[[Any], Any]]


def _count(_: str) -> _Fold:
    return 0, lambda total, _value: total + 1, lambda total: total


def _sum(type_: str) -> _Fold:
    fit = fitter(type_)
    return None, lambda total, value: fit(value if total is None else plus(total, value)), lambda total: total


def _avg(type_: str) -> _Fold:
    fit = fitter(type_)

    def finish(total: tuple[Any, int]) -> Any:
        value, number = total
        if not number:
            return None
        return fit(divide(value, number))

    def further(total: tuple[Any, int], value: Any) -> tuple[Any, int]:
        return (plus(total[0], value) if total[1] else value, total[1] + 1)

    return (None, 0), further, finish


def _extreme(sign: int) -> Callable[[str], _Fold]:
    def further(best: Any, value: Any) -> Any:
        return value if best is None or compare(value, best) * sign > 0 else best

    return lambda _: (None, further, lambda best: best)


_FOLDS: dict[str, Callable[[str], _Fold]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "max": _extreme(1),
    "min": _extreme(-1),
}
