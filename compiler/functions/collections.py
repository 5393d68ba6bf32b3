"""Arrays, maps and structs: Spark 4.2, `collectionOperations.scala`, `complexTypeCreator.scala`.

Nullability of elements follows Spark's `containsNull` and `valueContainsNull`; where Spark looks at it to
tell whether a lookup may give NULL, the lookup may always give NULL here.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, row
from compiler.functions.rules import as_array, as_map, common_of, element, same_as, text, tightest
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan import types as t


def _may_hold_null(args: Sequence[Arg], found: t.DataType) -> bool:
    # A string that is read as something else may be NULL to Spark's types, see `common_type`.
    return any(arg.nullable or (arg.type == t.STRING != found) for arg in args)


def _array(args: Sequence[Arg]) -> t.DataType:
    found = common_of(args)
    return t.Array(found, _may_hold_null(args, found))


def _map(args: Sequence[Arg]) -> t.DataType:
    if len(args) % 2:
        raise TypeProblem("keys and values must come in pairs")
    key = common_of(args[::2])
    if k.holds(key, lambda a: isinstance(a, t.Map) or a == t.VARIANT):
        raise TypeProblem(f"{key} cannot be the key of a map")
    value = common_of(args[1::2])
    return t.Map(key, value, _may_hold_null(args[1::2], value))


def _struct(args: Sequence[Arg]) -> t.DataType:
    return t.Struct(
        tuple(t.StructField(a.name or f"col{i}", a.type, a.nullable) for i, a in enumerate(args, 1))
    )


def _named_struct(args: Sequence[Arg]) -> t.DataType:
    if len(args) % 2:
        raise TypeProblem("names and values must come in pairs")
    names = [text(args, index, "a field's name") for index in range(0, len(args), 2)]
    pairs = zip(names, args[1::2], strict=True)
    return t.Struct(tuple(t.StructField(name, arg.type, arg.nullable) for name, arg in pairs))


def _element_with(args: Sequence[Arg], index: int) -> t.DataType:
    """The element type of the array and of an element that is looked for or put in."""
    own, other = element(args), args[index].type
    found = tightest(own, other)
    if found is None:
        raise TypeProblem(f"argument {index + 1} must be an element of {args[0].type}, not {other}")
    return found


def _put(args: Sequence[Arg]) -> t.DataType:
    return t.Array(_element_with(args, len(args) - 1))


def _without(args: Sequence[Arg]) -> t.DataType:
    return t.Array(_ordered(_element_with(args, 1)), as_array(args[0]).contains_null)


def _position(args: Sequence[Arg]) -> t.DataType:
    _ordered(_element_with(args, 1))
    return t.BIGINT


def _contains(args: Sequence[Arg]) -> t.DataType:
    if args[1].type == t.NULL:
        raise TypeProblem("argument 2 must have a type: NULL is in no array")
    # Unlike the others, it takes any decimal for a number.
    own, other = element(args), args[1].type
    if not (t.is_numeric(own) and t.is_numeric(other)):
        _ordered(_element_with(args, 1))
    return t.BOOLEAN


def _ordered(found: t.DataType) -> t.DataType:
    if not k.is_ordered(found):
        raise TypeProblem(f"{found} cannot be compared")
    return found


def _both(args: Sequence[Arg]) -> t.Array:
    """Two arrays brought to one type."""
    found = tightest(args[0].type, args[1].type)
    if not isinstance(found, t.Array):
        raise TypeProblem(f"{args[0].type} and {args[1].type} have no common type here: cast one of them")
    _ordered(found.element)
    return found


def _union(args: Sequence[Arg]) -> t.DataType:
    return _both(args)


def _except(args: Sequence[Arg]) -> t.DataType:
    return t.Array(_both(args).element, as_array(args[0]).contains_null)


def _intersect(args: Sequence[Arg]) -> t.DataType:
    return t.Array(_both(args).element, as_array(args[0]).contains_null and as_array(args[1]).contains_null)


def _overlap(args: Sequence[Arg]) -> t.DataType:
    _both(args)
    return t.BOOLEAN


def _flattened(args: Sequence[Arg]) -> t.DataType:
    outer = as_array(args[0])
    if not isinstance(outer.element, t.Array):
        raise TypeProblem(f"argument 1 must be an ARRAY of arrays, not {outer}")
    return outer.element


def _looked_up(args: Sequence[Arg]) -> t.DataType:
    """`element_at`: by place in an array, by key in a map."""
    found = args[0].type
    if isinstance(found, t.Array):
        if not t.is_integral(args[1].type) or args[1].type == t.BIGINT:
            raise TypeProblem(f"argument 2 must be an INT, not {args[1].type}")
        return found.element
    return _with_key(args).value


def _with_key(args: Sequence[Arg]) -> t.Map:
    found = as_map(args[0])
    if tightest(found.key, args[1].type) is None:
        raise TypeProblem(f"argument 2 must be a key of {found}, not {args[1].type}")
    return found


def _has_key(args: Sequence[Arg]) -> t.DataType:
    if args[1].type == t.NULL:
        raise TypeProblem("argument 2 must have a type: NULL is no key")
    _with_key(args)
    return t.BOOLEAN


def _entries(args: Sequence[Arg]) -> t.DataType:
    found = as_map(args[0])
    pair = (
        t.StructField("key", found.key, False),
        t.StructField("value", found.value, found.value_contains_null),
    )
    return t.Array(t.Struct(pair), False)


def _from_arrays(args: Sequence[Arg]) -> t.DataType:
    keys, values = as_array(args[0]), as_array(args[1])
    return t.Map(keys.element, values.element, values.contains_null)


def _from_entries(args: Sequence[Arg]) -> t.DataType:
    found = element(args)
    if not isinstance(found, t.Struct) or len(found.fields) != 2:
        raise TypeProblem(f"argument 1 must be an ARRAY of STRUCT with a key and a value, not {args[0].type}")
    key, value = found.fields
    return t.Map(key.type, value.type, value.nullable)


def _map_concat(args: Sequence[Arg]) -> t.DataType:
    if not args:
        return t.Map(t.STRING, t.STRING)
    found: t.DataType | None = args[0].type
    for arg in args[1:]:
        left, right = found, as_map(arg)
        assert isinstance(left, t.Map)
        if (left.key == t.STRING) != (right.key == t.STRING):
            raise TypeProblem(f"{left} and {right} have no common type here: cast one of them")
        found = t.common_type(left, right)
        if found is None:
            raise TypeProblem(f"{left} and {right} have no common type")
    assert found is not None
    return found


def _zipped(args: Sequence[Arg]) -> t.DataType:
    """The structs of `arrays_zip`: named by column, or by place from 0."""
    fields = [t.StructField(a.name or str(i), as_array(a).element) for i, a in enumerate(args)]
    return t.Array(t.Struct(tuple(fields)), False)


def _sequence(args: Sequence[Arg]) -> t.DataType:
    found = common_of(args[:2])
    step = args[2].type if len(args) == 3 else None
    if found == t.NULL:
        found = t.INT
    if t.is_integral(found):
        wider = t.common_type(found, step or t.NULL)
        if wider is not None and t.is_integral(wider):
            return t.Array(wider, False)
        raise TypeProblem(f"argument 3 must be a whole number, not {step}")
    if not t.is_temporal(found):
        raise TypeProblem(f"a sequence is of whole numbers, dates or timestamps, not of {found}")
    if isinstance(step, t.Interval) or step in (t.CALENDAR_INTERVAL, None):
        return t.Array(found, False)
    raise TypeProblem(f"argument 3 must be an interval, not {step}")


def _sortable(args: Sequence[Arg]) -> t.DataType:
    _ordered(element(args))
    return args[0].type


def _joined(args: Sequence[Arg]) -> t.DataType:
    if not t.is_atomic(element(args)):
        raise TypeProblem(f"argument 1 must be an ARRAY of strings, not {args[0].type}")
    return t.STRING


def _is_floats(found: t.DataType) -> bool:
    return isinstance(found, t.Array) and found.element == t.FLOAT


_ALWAYS = Nulls.ALWAYS
_NEVER = Nulls.NEVER
_KEPT = same_as(0)
_ORDER = k.constant(k.one_of("a BOOLEAN", t.BOOLEAN))
_INDEX = k.where("an INT", lambda a: t.is_integral(a) and a != t.BIGINT)
FLOATS = k.where("an ARRAY of FLOAT", _is_floats)
_DEGREE = k.where("a FLOAT", lambda a: a == t.FLOAT)

TABLE: tuple[Row, ...] = (
    # making
    row("array", to=_array, rest=k.ANY, nulls=_NEVER),
    row("array_repeat", k.ANY, k.INT_ONLY, to=lambda args: t.Array(args[0].type, args[0].nullable)),
    row("map", to=_map, rest=k.ANY, nulls=_NEVER),
    row("map_from_arrays", k.ARRAY_OR_NULL, k.ARRAY_OR_NULL, to=_from_arrays),
    row("map_from_entries", k.ARRAY, to=_from_entries, nulls=_ALWAYS),
    row("named_struct", to=_named_struct, rest=k.ANY, nulls=_NEVER),
    row("sequence", k.ANY, k.ANY, k.ANY, to=_sequence, optional=1),
    row("struct", to=_struct, rest=k.ANY, nulls=_NEVER),
    # arrays
    row("array_append array_prepend", k.ARRAY, k.ANY, to=_put),
    row("array_compact", k.ARRAY_OR_NULL, to=lambda args: t.Array(element(args), False)),
    row("array_contains", k.ARRAY, k.ANY, to=_contains, nulls=_ALWAYS),
    row("array_distinct", k.ARRAY_OR_NULL, to=_sortable),
    row("array_except", k.ARRAY, k.ARRAY, to=_except),
    row("array_insert", k.ARRAY, _INDEX, k.ANY, to=_put),
    row("array_intersect", k.ARRAY, k.ARRAY, to=_intersect),
    row("array_join", k.ARRAY_OR_NULL, k.TEXT, k.TEXT, to=_joined, optional=1),
    row("array_max array_min", k.ARRAY_OR_NULL, to=lambda args: _ordered(element(args)), nulls=_ALWAYS),
    row("array_position", k.ARRAY, k.ANY, to=_position),
    row("array_remove", k.ARRAY, k.ANY, to=_without),
    row("array_size", k.ARRAY_OR_NULL, to=t.INT),
    row("array_union", k.ARRAY, k.ARRAY, to=_union),
    row("arrays_overlap", k.ARRAY, k.ARRAY, to=_overlap, nulls=_ALWAYS),
    row("arrays_zip", to=_zipped, rest=k.ARRAY_OR_NULL),
    row(
        "cardinality size",
        k.Kind("an ARRAY or a MAP", lambda a: a if a == t.NULL else k.ARRAY_OR_MAP.cast(a)),
        to=t.INT,
    ),
    row("element_at try_element_at", k.ARRAY_OR_MAP, k.ANY, to=_looked_up, nulls=_ALWAYS),
    row("flatten", k.ARRAY, to=_flattened, nulls=_ALWAYS),
    row("get", k.ARRAY, k.INTEGER, to=element, nulls=_ALWAYS),
    row("shuffle", k.ARRAY_OR_NULL, k.constant(k.INTEGRAL), to=_KEPT, optional=1, deterministic=False),
    row("slice", k.ARRAY_OR_NULL, k.INTEGER, k.INTEGER, to=_KEPT),
    row("sort_array", k.ARRAY_OR_NULL, _ORDER, to=_sortable, optional=1),
    # maps
    row("map_concat", to=_map_concat, rest=k.MAP),
    row("map_contains_key", k.MAP, k.ANY, to=_has_key, nulls=_ALWAYS),
    row("map_entries", k.MAP_OR_NULL, to=_entries),
    row("map_keys", k.MAP_OR_NULL, to=lambda args: t.Array(as_map(args[0]).key)),
    row("map_values", k.MAP_OR_NULL, to=lambda args: t.Array(as_map(args[0]).value)),
    # vectors
    row(
        "vector_cosine_similarity vector_inner_product vector_l2_distance",
        FLOATS,
        FLOATS,
        to=t.FLOAT,
        nulls=_ALWAYS,
    ),
    row("vector_norm", FLOATS, _DEGREE, to=t.FLOAT, optional=1, nulls=_ALWAYS),
    row("vector_normalize", FLOATS, _DEGREE, to=t.Array(t.FLOAT), optional=1, nulls=_ALWAYS),
)
