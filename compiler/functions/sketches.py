"""Sketches and other approximations.

Source: Spark 4.2, `kllExpressions.scala`, `thetasketchesExpressions.scala`, `tupleSketchExpressions.scala`,
`datasketchesAggregates.scala`, `ApproxTopK`, `CountMinSketchAgg`, `bitmapExpressions.scala`.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, aggregate, row
from compiler.functions.rules import array_if, fields
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan import types as t

_NEVER = Nulls.NEVER


def _item(args: Sequence[Arg]) -> t.DataType:
    """The type of the counted values that the state of `approx_top_k_accumulate` carries."""
    state = args[0].type
    found = state.field("itemDataType") if isinstance(state, t.Struct) else None
    if found is None:
        raise TypeProblem(f"argument 1 must come from approx_top_k_accumulate, not be {state}")
    return found.type


def _top(item: t.DataType) -> t.DataType:
    return t.Array(fields(("item", item, True), ("count", t.BIGINT, False)))


def _state(item: t.DataType) -> t.DataType:
    return fields(
        ("sketch", t.BINARY, False),
        ("maxItemsTracked", t.INT, False),
        ("itemDataType", item, True),
        ("itemDataTypeDDL", t.STRING, False),
    )


def _is_counted(found: t.DataType) -> bool:
    return t.is_numeric(found) or t.is_temporal(found) or found in (t.BOOLEAN, t.STRING)


_SIZE = k.one_of("an INT", t.INT)
_CONSTANT_SIZE = k.given(_SIZE)
_COUNT = k.constant(k.INTEGER)
_MODE = k.constant(k.TEXT)
_FLAG = k.one_of("a BOOLEAN", t.BOOLEAN)
_SOME = k.constant(
    k.Kind(
        "a number or an ARRAY of them", lambda a: a if isinstance(a, t.Array) or k.NUMBER.cast(a) else None
    )
)
_BYTES_OR_TEXT = k.BIN
_COUNTED = k.where("a number, BOOLEAN, STRING, DATE or TIMESTAMP", _is_counted)
_DOUBLES = k.one_of("a DOUBLE or FLOAT", t.DOUBLE, t.FLOAT)
_FLOATS = k.one_of("a FLOAT", t.FLOAT)
_KEYS = k.one_of("an INT, BIGINT, STRING or BINARY", t.INT, t.BIGINT, t.STRING, t.BINARY)
_WHOLE_KEYS = k.Kind("a whole number, STRING or BINARY", lambda a: a if t.is_integral(a) else _KEYS.cast(a))
_TUPLE_KEYS = k.Kind(
    "a number, STRING, BINARY or ARRAY of whole numbers",
    lambda a: (
        a
        if a in (t.FLOAT, t.DOUBLE) or (isinstance(a, t.Array) and a.element in (t.INT, t.BIGINT))
        else _KEYS.cast(a)
    ),
)

# Spark casts what a tuple sketch is keyed by to one of its types.
_ENTRY_KEYS = k.Kind(
    "a number, STRING, BINARY, BOOLEAN, time or ARRAY of whole numbers",
    lambda a: a if t.is_atomic(a) else _TUPLE_KEYS.cast(a),
)

# The value type of each family, and what it is collected from.
_KLL = (("bigint", t.BIGINT, k.INTEGRAL), ("double", t.DOUBLE, _DOUBLES), ("float", t.FLOAT, _FLOATS))
_SUMMARIES = (("double", t.DOUBLE, k.DOUBLE), ("integer", t.BIGINT, k.INTEGER))


def _quantiles(end: str, found: t.DataType, taken: k.Kind) -> tuple[Row, ...]:
    return (
        aggregate(f"kll_sketch_agg_{end}", taken, _CONSTANT_SIZE, to=t.BINARY, optional=1, nulls=_NEVER),
        aggregate(f"kll_merge_agg_{end}", k.BYTES, _CONSTANT_SIZE, to=t.BINARY, optional=1, nulls=_NEVER),
        row(f"kll_sketch_get_n_{end}", _BYTES_OR_TEXT, to=t.BIGINT),
        row(f"kll_sketch_get_quantile_{end}", _BYTES_OR_TEXT, _SOME, to=array_if(1, lambda _: found)),
        row(f"kll_sketch_get_rank_{end}", _BYTES_OR_TEXT, _SOME, to=array_if(1, lambda _: t.DOUBLE)),
        row(f"kll_sketch_merge_{end}", _BYTES_OR_TEXT, _BYTES_OR_TEXT, to=t.BINARY),
        row(f"kll_sketch_to_string_{end}", _BYTES_OR_TEXT, to=t.STRING),
    )


def _tuples(end: str, found: t.DataType, taken: k.Kind) -> tuple[Row, ...]:
    return (
        aggregate(
            f"tuple_sketch_agg_{end}",
            _ENTRY_KEYS,
            taken,
            _CONSTANT_SIZE,
            _MODE,
            to=t.BINARY,
            optional=2,
            nulls=_NEVER,
        ),
        aggregate(
            f"tuple_union_agg_{end}", k.BIN, _CONSTANT_SIZE, _MODE, to=t.BINARY, optional=2, nulls=_NEVER
        ),
        aggregate(f"tuple_intersection_agg_{end}", k.BIN, _MODE, to=t.BINARY, optional=1, nulls=_NEVER),
        row(f"tuple_difference_{end} tuple_difference_theta_{end}", k.BYTES, k.BYTES, to=t.BINARY),
        row(
            f"tuple_intersection_{end} tuple_intersection_theta_{end}",
            k.BYTES,
            k.BYTES,
            _MODE,
            to=t.BINARY,
            optional=1,
        ),
        row(
            f"tuple_union_{end} tuple_union_theta_{end}",
            k.BYTES,
            k.BYTES,
            _CONSTANT_SIZE,
            _MODE,
            to=t.BINARY,
            optional=2,
        ),
        row(f"tuple_sketch_estimate_{end} tuple_sketch_theta_{end}", k.BYTES, to=t.DOUBLE),
        row(f"tuple_sketch_summary_{end}", k.BYTES, _MODE, to=found, optional=1),
    )


TABLE: tuple[Row, ...] = (
    aggregate(
        "approx_top_k", _COUNTED, _COUNT, _COUNT, to=lambda a: _top(a[0].type), optional=2, nulls=_NEVER
    ),
    aggregate(
        "approx_top_k_accumulate", _COUNTED, _COUNT, to=lambda a: _state(a[0].type), optional=1, nulls=_NEVER
    ),
    aggregate(
        "approx_top_k_combine", k.STRUCT, _COUNT, to=lambda a: _state(_item(a)), optional=1, nulls=_NEVER
    ),
    row("approx_top_k_estimate", k.STRUCT, _COUNT, to=lambda a: _top(_item(a)), optional=1),
    aggregate(
        "bitmap_and_agg bitmap_or_agg", k.where("BINARY", lambda a: a == t.BINARY), to=t.BINARY, nulls=_NEVER
    ),
    aggregate("bitmap_construct_agg", k.LONG, to=t.BINARY, nulls=_NEVER),
    row("bitmap_bit_position bitmap_bucket_number", k.LONG, to=t.BIGINT),
    aggregate(
        "count_min_sketch",
        _WHOLE_KEYS,
        *(k.given(k.one_of("a DOUBLE", t.DOUBLE)),) * 2,
        _CONSTANT_SIZE,
        to=t.BINARY,
        nulls=_NEVER,
    ),
    aggregate("hll_sketch_agg", _KEYS, _SIZE, to=t.BINARY, optional=1, nulls=_NEVER),
    aggregate("hll_union_agg", k.BYTES, _FLAG, to=t.BINARY, optional=1, nulls=_NEVER),
    row("hll_sketch_estimate", k.BYTES, to=t.BIGINT),
    row("hll_union", k.BYTES, k.BYTES, _FLAG, to=t.BINARY, optional=1),
    aggregate("theta_sketch_agg", _TUPLE_KEYS, _SIZE, to=t.BINARY, optional=1, nulls=_NEVER),
    aggregate("theta_union_agg", k.BYTES, _SIZE, to=t.BINARY, optional=1, nulls=_NEVER),
    aggregate("theta_intersection_agg", k.BYTES, to=t.BINARY, nulls=_NEVER),
    row("theta_difference theta_intersection", k.BYTES, k.BYTES, to=t.BINARY),
    row("theta_sketch_estimate", k.BYTES, to=t.BIGINT),
    row("theta_union", k.BYTES, k.BYTES, _SIZE, to=t.BINARY, optional=1),
    *(entry for family in _KLL for entry in _quantiles(*family)),
    *(entry for family in _SUMMARIES for entry in _tuples(*family)),
)
