"""Functions that give several rows, typed as a STRUCT of their columns: Spark 4.2, `generators.scala`."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, Rule, row
from compiler.functions.rules import element, fields, whole_number
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan import types as t


def _exploded(outer: bool, position: bool) -> Rule:
    """The columns of `explode`; the outer form gives one row of NULLs where there is nothing to explode."""

    def result(args: Sequence[Arg]) -> t.DataType:
        found = args[0].type
        before = (("pos", t.INT, outer),) if position else ()
        if isinstance(found, t.Map):
            return fields(
                *before, ("key", found.key, outer), ("value", found.value, outer or found.value_contains_null)
            )
        assert isinstance(found, t.Array)
        return fields(*before, ("col", found.element, outer or found.contains_null))

    return result


def _inlined(outer: bool) -> Rule:
    def result(args: Sequence[Arg]) -> t.DataType:
        found = element(args)
        if not isinstance(found, t.Struct):
            raise TypeProblem(f"argument 1 must be an ARRAY of STRUCT, not {args[0].type}")
        array = args[0].type
        empty = outer or (isinstance(array, t.Array) and array.contains_null)
        return fields(*((field.name, field.type, empty or field.nullable) for field in found.fields))

    return result


def _stacked(args: Sequence[Arg]) -> t.DataType:
    """The columns of `stack(n, …)`: the values are laid out in n rows."""
    rows = whole_number(args, 0, 0)
    if rows < 1:
        raise TypeProblem("argument 1 must be a positive number of rows")
    values = args[1:]
    width = -(-len(values) // rows)
    columns = []
    for index in range(width):
        column = [arg for arg in values[index::width] if arg.type != t.NULL]
        if len({arg.type.sql for arg in column}) > 1:
            raise TypeProblem(
                f"column {index + 1} would hold {column[0].type} and {column[1].type}: cast one of them"
            )
        columns.append((f"col{index}", column[0].type if column else t.NULL, True))
    return fields(*columns)


def _tuple_of_strings(args: Sequence[Arg]) -> t.DataType:
    return fields(*((f"c{index}", t.STRING, True) for index in range(len(args) - 1)))


_VARIANTS = fields(("pos", t.INT, False), ("key", t.STRING, True), ("value", t.VARIANT, False))
_OUTER_VARIANTS = fields(("pos", t.INT, True), ("key", t.STRING, True), ("value", t.VARIANT, True))
_STRING = k.where("a STRING", lambda a: a == t.STRING)


def _generator(name: str, *kinds: k.Kind, to: Rule | t.DataType, rest: k.Kind | None = None) -> Row:
    return row(name, *kinds, to=to, rest=rest, nulls=Nulls.ALWAYS, generator=True)


TABLE: tuple[Row, ...] = (
    _generator("explode", k.ARRAY_OR_MAP, to=_exploded(outer=False, position=False)),
    _generator("explode_outer", k.ARRAY_OR_MAP, to=_exploded(outer=True, position=False)),
    _generator("inline", k.ARRAY, to=_inlined(outer=False)),
    _generator("inline_outer", k.ARRAY, to=_inlined(outer=True)),
    _generator("json_tuple", _STRING, _STRING, to=_tuple_of_strings, rest=_STRING),
    _generator("posexplode", k.ARRAY_OR_MAP, to=_exploded(outer=False, position=True)),
    _generator("posexplode_outer", k.ARRAY_OR_MAP, to=_exploded(outer=True, position=True)),
    _generator("stack", k.constant(k.INT_ONLY), k.ANY, to=_stacked, rest=k.ANY),
    # in FROM only
    _generator("variant_explode", k.VARIANT, to=_VARIANTS),
    _generator("variant_explode_outer", k.VARIANT, to=_OUTER_VARIANTS),
)
