"""The few words that the tables of functions are written in.

`row("upper ucase", k.STR, to=STRING)` makes the entries of two names that share a signature. A function whose
signature has several forms is `forms("left", sig(…), sig(…))`; the first that fits is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from compiler.functions.kinds import Kind
from compiler.functions.spec import Arg, Function, Nulls, TypeProblem
from compiler.plan.types import DataType

Rule = Callable[[Sequence[Arg]], DataType]
Row = tuple[Function, ...]


class Signature(NamedTuple):
    """One form of a function's arguments, and the type that it then has.

    Args:
        kinds: of the arguments, in turn.
        optional: how many of the last may be left out.
        rest: of any number of further arguments.
        rule: result type from the arguments after their implicit casts.
    """

    kinds: tuple[Kind, ...]
    optional: int
    rest: Kind | None
    rule: Rule

    @property
    def least(self) -> int:
        """How many arguments it needs."""
        return len(self.kinds) - self.optional

    def fits(self, count: int) -> bool:
        """Whether so many arguments are right."""
        return count >= self.least and (self.rest is not None or count <= len(self.kinds))

    def result(self, args: Sequence[Arg]) -> DataType:
        """The type of a call.

        Raises:
            TypeProblem: an argument is none of its kind.
        """
        if not self.fits(len(args)):
            raise TypeProblem(f"{len(args)} arguments do not fit")
        return self.rule([_coerce(self._kind(index), index, arg) for index, arg in enumerate(args)])

    def _kind(self, index: int) -> Kind:
        if index < len(self.kinds):
            return self.kinds[index]
        assert self.rest is not None  # the number of arguments was checked
        return self.rest


def _coerce(kind: Kind, index: int, arg: Arg) -> Arg:
    if kind.constant and not arg.is_literal:
        raise TypeProblem(f"argument {index + 1} must be a constant")
    found = kind.cast(arg.type)
    if found is None:
        raise TypeProblem(f"argument {index + 1} must be {kind.text}, not {arg.type}")
    if found == arg.type:
        return arg
    return Arg(found, arg.nullable, arg.literal, arg.is_literal, arg.name)


def sig(*kinds: Kind, to: DataType | Rule, optional: int = 0, rest: Kind | None = None) -> Signature:
    """One form of a function."""
    return Signature(kinds, optional, rest, (lambda _: to) if isinstance(to, DataType) else to)


def forms(
    names: str,
    *signatures: Signature,
    nulls: Nulls = Nulls.ANY,
    aggregate: bool = False,
    deterministic: bool = True,
    generator: bool = False,
    window_only: bool = False,
) -> Row:
    """A function under one or more names, with one or more forms."""
    least = min([form.least for form in signatures])
    most = None if any(form.rest for form in signatures) else max([len(form.kinds) for form in signatures])
    returns = _returns(signatures)
    return tuple(
        [
            Function(name, least, most, returns, nulls, aggregate, deterministic, generator, window_only)
            for name in names.split()
        ]
    )


def _returns(signatures: tuple[Signature, ...]) -> Rule:
    def returns(args: Sequence[Arg]) -> DataType:
        problem: TypeProblem | None = None
        for form in signatures:
            if form.fits(len(args)):
                try:
                    return form.result(args)
                except TypeProblem as found:
                    problem = problem or found
        raise problem or TypeProblem(f"{len(args)} arguments do not fit")

    return returns


def row(
    names: str,
    *kinds: Kind,
    to: DataType | Rule,
    optional: int = 0,
    rest: Kind | None = None,
    nulls: Nulls = Nulls.ANY,
    aggregate: bool = False,
    deterministic: bool = True,
    generator: bool = False,
    window_only: bool = False,
) -> Row:
    """A function of one form under one or more names."""
    returns = sig(*kinds, to=to, optional=optional, rest=rest).result
    most = len(kinds)
    least, bound = most - optional, None if rest else most
    return tuple(
        [
            Function(name, least, bound, returns, nulls, aggregate, deterministic, generator, window_only)
            for name in names.split()
        ]
    )


def aggregate(
    names: str,
    *kinds: Kind,
    to: DataType | Rule,
    optional: int = 0,
    rest: Kind | None = None,
    nulls: Nulls = Nulls.ALWAYS,
    deterministic: bool = True,
) -> Row:
    """A function of a group of rows; without rows most give NULL."""
    return row(
        names,
        *kinds,
        to=to,
        optional=optional,
        rest=rest,
        nulls=nulls,
        aggregate=True,
        deterministic=deterministic,
    )
