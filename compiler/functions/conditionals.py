"""Choices and NULL: Spark 4.2, `conditionalExpressions.scala`, `nullExpressions.scala`, `misc.scala`."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, forms, row, sig
from compiler.functions.rules import common, common_of, common_without_strings, tightest
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan.types import BOOLEAN, INT, NULL, STRING, DataType, is_atomic


def _comparable(args: Sequence[Arg]) -> DataType:
    """BOOLEAN, if the arguments can be compared: inside arrays and structs no string becomes a number."""
    found: DataType = NULL
    for arg in args:
        simple = is_atomic(found) and is_atomic(arg.type)
        wider = common_of((Arg(found, True), arg)) if simple else tightest(found, arg.type)
        if wider is None or not k.is_ordered(wider):
            raise TypeProblem(f"{args[0].type} cannot be compared with {arg.type}")
        found = wider
    return BOOLEAN


def _null_if(args: Sequence[Arg]) -> DataType:
    _comparable(args)
    return args[0].type


def _null_if_zero(args: Sequence[Arg]) -> DataType:
    _comparable((args[0], Arg(INT, False)))
    return args[0].type


def _zero_if_null(args: Sequence[Arg]) -> DataType:
    return common_of((args[0], Arg(INT, False)))


def _decoded(args: Sequence[Arg]) -> DataType:
    """`decode(value, search, result, …, default)`: the type of the results."""
    _comparable([args[0], *args[1:-1:2]])
    # Without a default Spark adds a NULL that is a STRING: decode(1, 1, 2) is a BIGINT.
    last = Arg(STRING, True) if len(args) % 2 else args[-1]
    return common_of((*args[2::2], last))


_ALWAYS = Nulls.ALWAYS
_NEVER = Nulls.NEVER

TABLE: tuple[Row, ...] = (
    row("assert_true", k.CONDITION, k.STR, to=NULL, optional=1, nulls=_ALWAYS),
    row("between", k.ANY, k.ANY, k.ANY, to=_comparable),
    row("coalesce", k.ANY, to=common(), rest=k.ANY, nulls=Nulls.ALL),
    forms(
        "decode",
        sig(k.BIN, k.STR, to=STRING),
        sig(k.ANY, k.ANY, k.ANY, to=_decoded, rest=k.ANY),
        nulls=_ALWAYS,
    ),
    row("equal_null", k.ANY, k.ANY, to=_comparable, nulls=_NEVER),
    row("greatest least", k.ANY, k.ANY, to=common_without_strings, rest=k.ANY, nulls=Nulls.ALL),
    row("if", k.CONDITION, k.ANY, k.ANY, to=common(1)),
    row("ifnull nvl", k.ANY, k.ANY, to=common(), nulls=Nulls.ALL),
    row("isnotnull isnull", k.ANY, to=BOOLEAN, nulls=_NEVER),
    row("nullif", k.ANY, k.ANY, to=_null_if, nulls=_ALWAYS),
    row("nullifzero", k.ANY, to=_null_if_zero, nulls=_ALWAYS),
    row("nvl2", k.ANY, k.ANY, k.ANY, to=common(1)),
    row("raise_error", k.STR, to=NULL, nulls=_ALWAYS),
    row("typeof", k.ANY, to=STRING, nulls=_NEVER),
    row("zeroifnull", k.ANY, to=_zero_if_null, nulls=_NEVER),
    row("collation", k.TEXT, to=STRING, nulls=_NEVER),
)
