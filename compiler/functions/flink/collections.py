"""Arrays and maps: Flink's functions as Spark has them."""

from __future__ import annotations

from compiler.functions.flink.spec import Asked, Rewrite, alias, is_flag, rewrite
from compiler.functions.spec import TypeProblem

# Places from 1, from the end if they are negative; both ends are in.
_FIRST = "if(first = 0, 1, if(first < 0, greatest(size(a) + first + 1, 1), first))"
_LAST = "if(last = 0, 1, if(last < 0, size(a) + last + 1, least(last, size(a))))"
_SLICE = f"slice(a, {_FIRST}, greatest({{0}} - {_FIRST} + 1, 0))"
_UNITED = "map_concat(map_filter({0}, (key_, value_) -> NOT map_contains_key({1}, key_)), {1})"


def _sorted(asked: Asked) -> str:
    """`array_sort(a, ascending, nulls_first)`."""
    forms = {
        (True, True): "sort_array(a, TRUE)",
        (True, False): "array_sort(a)",
        (False, True): "reverse(array_sort(a))",
        (False, False): "sort_array(a, FALSE)",
    }
    for (ascending, nulls_first), sql in forms.items():
        if asked.args[1].literal is ascending and asked.args[2].literal is nulls_first:
            return sql
    raise TypeProblem("arguments 2 and 3 must be TRUE or FALSE, written out")


_ONE = "if(size(a) > 1, raise_error('ELEMENT: the array has several elements'), get(a, 0))"

TABLE: tuple[Rewrite, ...] = (
    alias("array_concat", "concat"),
    alias("array_reverse", "reverse"),
    rewrite("array_slice(a, first)", _SLICE.format("size(a)")),
    rewrite("array_slice(a, first, last)", _SLICE.format(_LAST)),
    rewrite("array_sort(a, ascending)", "sort_array(a, ascending)", fits=is_flag(1)),
    rewrite("array_sort(a, ascending, nulls_first)", _sorted),
    rewrite("element(a)", _ONE),
    rewrite("map_union(a)", "a"),
    rewrite("map_union(a, b)", _UNITED.format("a", "b")),
    alias("row", "struct", differs="fields are named by their columns, else `col1`, `col2`"),
)
