"""How a function of Flink's that Spark has not, or has under another name, is written in Spark SQL.

`rewrite("split_index(s, d, i)", "get(split(s, d), i)")` is one line of a table: the name with its parameters,
and a Spark expression over them, which is bound like a user's own: so types and mistakes are Spark's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from compiler.frozen import frozen
from compiler.functions.spec import Arg, TypeProblem
from compiler.plan import types as t

Test = Callable[[Sequence[Arg]], bool]


@frozen(slots=True)
class Asked:
    """A call that is to be written in Spark SQL.

    Args:
        args: what is known of its arguments.
        clauses: of its clauses that are no arguments, by name (`default_on_empty`, `null_on_null`); those
            that have an expression can be named in what is written.
        nested: which arguments are JSON that is put in as it is.
    """

    args: Sequence[Arg]
    clauses: Mapping[str, Arg]
    nested: frozenset[int] = frozenset()


Write = Callable[[Asked], str]


@frozen(slots=True)
class Rewrite:
    """One form of a function.

    Args:
        name: in lower case.
        parameters: as the expression names them; one that begins with `*` takes any number of arguments.
        sql: the Spark expression, or what writes it for given arguments (it may raise TypeProblem).
        fits: whether the form is meant, for a name that has several or that Spark has too.
        aggregate: whether it works on a group of rows.
        differs: what is other than in Flink, for the reference.
    """

    name: str
    parameters: tuple[str, ...]
    sql: str | Write
    fits: Test | None = None
    aggregate: bool = False
    differs: str | None = None

    def takes(self, args: Sequence[Arg]) -> bool:
        """Whether a call with these arguments means this form."""
        rest = bool(self.parameters) and self.parameters[-1].startswith("*")
        count = len(args) >= len(self.parameters) - 1 if rest else len(args) == len(self.parameters)
        return count and (self.fits is None or self.fits(args))


@frozen(slots=True)
class Refused:
    """A function of Flink's that cannot run on Spark's streams, why, and what to write."""

    name: str
    reason: str
    fix: str | None = None


def rewrite(
    form: str,
    sql: str | Write,
    *,
    fits: Test | None = None,
    aggregate: bool = False,
    differs: str | None = None,
) -> Rewrite:
    """One line of a table; `form` is `name(parameter, …)`."""
    name, _, parameters = form.removesuffix(")").partition("(")
    names = tuple(part.strip() for part in parameters.split(",") if part.strip())
    return Rewrite(name, names, sql, fits, aggregate, differs)


def alias(name: str, spark: str, differs: str | None = None) -> Rewrite:
    """A function that Spark has under another name, with the same arguments."""
    return Rewrite(name, ("*args",), f"{spark}(*args)", differs=differs)


def literal(args: Sequence[Arg], index: int, what: str) -> str:
    """An argument that decides what is written, as text.

    Raises:
        TypeProblem: it is no literal.
    """
    value = args[index].literal
    if value is None:
        raise TypeProblem(f"argument {index + 1} must be {what}, written out")
    return str(value)


def is_number(index: int) -> Test:
    """Whether that argument is a number."""
    return lambda args: t.is_numeric(args[index].type)


def is_whole(index: int) -> Test:
    """Whether that argument is a whole number."""
    return lambda args: t.is_integral(args[index].type)


def is_moment(index: int) -> Test:
    """Whether that argument is a date or a timestamp."""
    return lambda args: t.is_temporal(args[index].type)


def is_flag(index: int) -> Test:
    """Whether that argument is a boolean."""
    return lambda args: args[index].type == t.BOOLEAN
