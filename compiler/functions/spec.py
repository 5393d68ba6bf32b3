"""How a function is described to the compiler: its arguments, its type, and what it does with NULL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from compiler.plan.types import DataType


@dataclass(frozen=True, slots=True)
class Arg:
    """What is known of an argument: its type, whether it may be NULL, and its value if it is a literal."""

    type: DataType
    nullable: bool
    literal: str | int | bool | None = None
    is_literal: bool = False


class TypeProblem(Exception):
    """The arguments do not fit; the text goes into the diagnostic ("argument 2 must be a number, …")."""


class Nulls(Enum):
    """When the result may be NULL."""

    ANY = "if an argument may be"  # the usual rule
    ALL = "if all arguments may be"  # coalesce
    NEVER = "never"  # count, isnull
    ALWAYS = "always possible"  # try_*, element lookups, most aggregates


@dataclass(frozen=True, slots=True)
class Function:
    """A function of Spark SQL.

    Args:
        name: lower case.
        min_args, max_args: how many arguments; `max_args` None is any number.
        returns: result type from the arguments; raises TypeProblem.
        nulls: when the result may be NULL.
        aggregate: works on a group of rows.
        deterministic: the same arguments give the same result when an epoch is replayed.
        generator: gives several rows (explode).
        window_only: needs OVER (row_number).
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
