"""Functions that take lambdas: Spark 4.2, `higherOrderFunctions.scala`.

A lambda is handed to the catalogue as the `Arg` of its body. Its parameters have to be typed first, from the
arguments to its left: `lambda_parameters` tells them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, forms, row, sig
from compiler.functions.rules import as_array, as_map, element, same_as, tightest
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan import types as t

Parameters = Callable[[Sequence[Arg]], tuple[Arg, ...]]


def lambda_parameters(name: str, args: Sequence[Arg]) -> tuple[Arg, ...]:
    """What is known of a lambda's parameters.

    Args:
        name: the function.
        args: the arguments to the left of the lambda; an earlier lambda is the `Arg` of its body.

    Returns:
        The parameters in turn; a lambda may name fewer. Empty if no lambda stands there.

    Raises:
        TypeProblem: an argument to the left is not what the function works on.
    """
    found = _PARAMETERS.get((name, len(args)))
    if found is None:
        return ()
    try:
        return found(args)
    except AssertionError:
        raise TypeProblem(f"argument 1 cannot be {args[0].type}") from None


def _element(args: Sequence[Arg]) -> Arg:
    found = as_array(args[0])
    return Arg(found.element, found.contains_null)


def _element_and_index(args: Sequence[Arg]) -> tuple[Arg, ...]:
    return (_element(args), Arg(t.INT, False))


def _only_element(args: Sequence[Arg]) -> tuple[Arg, ...]:
    return (_element(args),)


def _two_elements(args: Sequence[Arg]) -> tuple[Arg, ...]:
    return (_element(args), _element(args))


def _of_both(args: Sequence[Arg]) -> tuple[Arg, ...]:
    return (Arg(element(args, 0), True), Arg(element(args, 1), True))


def _entry(args: Sequence[Arg]) -> tuple[Arg, ...]:
    found = as_map(args[0])
    return (Arg(found.key, False), Arg(found.value, found.value_contains_null))


def _two_entries(args: Sequence[Arg]) -> tuple[Arg, ...]:
    left, right = as_map(args[0]), as_map(args[1])
    return (Arg(_key(left, right), False), Arg(left.value, True), Arg(right.value, True))


def _accumulator_and_element(args: Sequence[Arg]) -> tuple[Arg, ...]:
    return (Arg(args[1].type, True), _element(args))


def _accumulator(args: Sequence[Arg]) -> tuple[Arg, ...]:
    return (Arg(args[1].type, True),)


# By function and number of arguments to the left.
_PARAMETERS: Mapping[tuple[str, int], Parameters] = {
    ("aggregate", 2): _accumulator_and_element,
    ("aggregate", 3): _accumulator,
    ("array_sort", 1): _two_elements,
    ("exists", 1): _only_element,
    ("filter", 1): _element_and_index,
    ("forall", 1): _only_element,
    ("map_filter", 1): _entry,
    ("map_zip_with", 2): _two_entries,
    ("reduce", 2): _accumulator_and_element,
    ("reduce", 3): _accumulator,
    ("transform", 1): _element_and_index,
    ("transform_keys", 1): _entry,
    ("transform_values", 1): _entry,
    ("zip_with", 2): _of_both,
}


def _key(left: t.Map, right: t.Map) -> t.DataType:
    found = tightest(left.key, right.key)
    if found is None:
        raise TypeProblem(f"{left} and {right} have keys of different types")
    return found


def _reduced(args: Sequence[Arg]) -> t.DataType:
    start, merged = args[1].type, args[2].type
    if start.sql != merged.sql:
        raise TypeProblem(f"the merge gives {merged}, but the start is {start}: cast the start")
    return args[-1].type if len(args) == 4 else start


def _sorted(args: Sequence[Arg]) -> t.DataType:
    if not k.is_ordered(element(args)):
        raise TypeProblem(f"{element(args)} has no order")
    return args[0].type


def _new_keys(args: Sequence[Arg]) -> t.DataType:
    if isinstance(args[1].type, t.Map):
        raise TypeProblem(f"{args[1].type} cannot be the key of a map")
    found = as_map(args[0])
    return t.Map(args[1].type, found.value, found.value_contains_null)


def _new_values(args: Sequence[Arg]) -> t.DataType:
    return t.Map(as_map(args[0]).key, args[1].type, args[1].nullable)


def _zipped_maps(args: Sequence[Arg]) -> t.DataType:
    return t.Map(_key(as_map(args[0]), as_map(args[1])), args[2].type, args[2].nullable)


def _array_of_body(args: Sequence[Arg]) -> t.DataType:
    return t.Array(args[-1].type, args[-1].nullable)


_ALWAYS = Nulls.ALWAYS
_TEST = k.CONDITION
_ORDER = k.one_of("an INT (negative, zero or positive)", t.INT)

TABLE: tuple[Row, ...] = (
    row("aggregate reduce", k.ARRAY, k.ANY, k.ANY, k.ANY, to=_reduced, optional=1, nulls=_ALWAYS),
    forms("array_sort", sig(k.ARRAY, to=_sorted), sig(k.ARRAY, _ORDER, to=same_as(0))),
    row("exists forall", k.ARRAY, _TEST, to=t.BOOLEAN, nulls=_ALWAYS),
    row("filter", k.ARRAY, _TEST, to=same_as(0)),
    row("map_filter", k.MAP, _TEST, to=same_as(0)),
    row("map_zip_with", k.MAP, k.MAP, k.ANY, to=_zipped_maps),
    row("transform", k.ARRAY, k.ANY, to=_array_of_body),
    row("transform_keys", k.MAP, k.ANY, to=_new_keys),
    row("transform_values", k.MAP, k.ANY, to=_new_values),
    row("zip_with", k.ARRAY, k.ARRAY, k.ANY, to=_array_of_body),
)
