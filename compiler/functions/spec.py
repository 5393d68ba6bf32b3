"""How a function is described to the compiler: its arguments, its type, and what it does with NULL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from compiler.frozen import frozen
from compiler.plan.types import VARIANT, DataType


@frozen(slots=True)
class Arg:
    """What is known of an argument: its type, whether it may be NULL, and its value if it is a literal.

    Args:
        type: its type; of a lambda, the type of its body.
        nullable: whether it may be NULL; of a lambda, whether its body may be.
        literal: the value, where it is a string, a whole number or a boolean.
        is_literal: whether it is known before a row is read: a literal, or an expression of literals only
            (`array(0.5, 0.9)`), which Spark calls foldable.
        name: the name of the column or of the alias; `struct(a, b)` names its fields by it.
    """

    type: DataType
    nullable: bool
    literal: str | int | bool | None = None
    is_literal: bool = False
    name: str | None = None


class TypeProblem(Exception):
    """The arguments do not fit; the text goes into the diagnostic ("argument 2 must be a number, …")."""


class Nulls(Enum):
    """When the result may be NULL."""

    ANY = "if an argument may be"  # the usual rule
    ALL = "if all arguments may be"  # coalesce
    NEVER = "never"  # count, isnull
    ALWAYS = "always possible"  # try_*, element lookups, most aggregates


@frozen(slots=True)
class Function:
    """A function of Spark SQL.

    Args:
        name: lower case.
        min_args, max_args: how many arguments; `max_args` None is any number.
        returns: result type from the arguments; raises TypeProblem. A generator's is a STRUCT of the
            columns that it gives.
        nulls: when the result may be NULL.
        aggregate: works on a group of rows.
        deterministic: the same arguments give the same result when an epoch is replayed.
        generator: gives several rows (explode).
        window_only: needs OVER (row_number).
        shown: what users call it, where that is not its name in Spark.
        casts: types to which the arguments are cast, for a function that does not do so by itself.
    """

    name: str
    min_args: int
    max_args: int | None
    returns: Callable[[Sequence[Arg]], DataType]
    nulls: Nulls = Nulls.ANY
    aggregate: bool = False
    deterministic: bool = True
    generator: bool = False
    window_only: bool = False
    casts: tuple[DataType, ...] | None = None
    shown: str | None = None

    @property
    def label(self) -> str:
        """The name that users know it by."""
        return self.shown or self.name

    def nullable(self, args: Sequence[Arg]) -> bool:
        """Whether the result may be NULL for these arguments."""
        if self.nulls is Nulls.NEVER or self.nulls is Nulls.ALWAYS:
            return self.nulls is Nulls.ALWAYS
        # A VARIANT that is not NULL may hold JSON's null, and that becomes NULL when it is cast.
        may_be = [arg.nullable or arg.type == VARIANT for arg in args]
        return all(may_be) if self.nulls is Nulls.ALL else any(may_be)
