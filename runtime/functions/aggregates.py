"""Calls Python aggregate functions over the rows of groups, which Spark has collected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np
import pyarrow as pa

from compiler.jobplan.model import argument_field
from runtime.functions.engine import FunctionFailure

# It has no types of its own.
pd: Any = import_module("pandas")


def over_groups(
    function: Callable[..., Any], name: str, groups: pa.Array, returns: pa.DataType, *, vectorized: bool
) -> pa.Array:
    """The function's value of each group.

    Args:
        function: takes a Series, or a list if it is not vectorized, for each argument.
        name: what it is called in messages.
        groups: an array of structs a group, whose fields named by `argument_field` are the arguments.
        returns: the type of the value.
        vectorized: whether arguments are Series.

    Raises:
        FunctionFailure: the function failed, or gave a value of another type.
    """
    rows = groups.flatten()
    ends = np.cumsum([0, *(length or 0 for length in groups.value_lengths().to_pylist())]).tolist()
    arguments: list[Iterator[Any]] = []
    while (place := rows.type.get_field_index(argument_field(len(arguments)))) >= 0:
        arguments.append((_series if vectorized else _lists)(rows.field(place), ends))
    try:
        values = [_value(function(*group), returns) for group in zip(*arguments, strict=True)]
        # NaN is NULL, as in what vectorized functions give out.
        return pa.array(values, returns, from_pandas=True)
    except Exception as error:
        raise FunctionFailure(f"{name}: {type(error).__name__}: {error}") from error


def _lists(values: pa.Array, ends: list[int]) -> Iterator[list[Any]]:
    """A list a group, with the times of a Series."""
    found = values.to_pylist()
    if pa.types.is_timestamp(values.type):
        found = [time if time is None else time.replace(tzinfo=None) for time in found]
    return (found[start:end] for start, end in pairwise(ends))


def _series(values: pa.Array, ends: list[int]) -> Iterator[Any]:
    """A Series a group. Its type hangs on whether there is a NULL among its own values, not among others'."""
    if values.null_count:
        parts = (_plain(values.slice(start, end - start)) for start, end in pairwise(ends))
    else:
        whole = _plain(values)
        parts = (whole.iloc[start:end].reset_index(drop=True) for start, end in pairwise(ends))
    return parts


def _plain(values: pa.Array) -> Any:
    """As Spark hands columns to functions: times are those of a clock in the session's zone."""
    found = values.to_pandas()
    return found.dt.tz_localize(None) if isinstance(found.dtype, pd.DatetimeTZDtype) else found


def _value(value: Any, returns: pa.DataType) -> Any:
    """As Arrow takes it, which cuts fractions off. A time without a zone is one of the session's."""
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        value = value.item()
    if pa.types.is_integer(returns) and isinstance(value, float) and not isnan(value) and value % 1:
        raise ValueError(f"{value} is no {returns}")
    if not pa.types.is_timestamp(returns) or returns.tz is None or value is None or value is pd.NaT:
        return value
    moment = pd.Timestamp(value)
    return moment if moment.tzinfo is not None else moment.tz_localize(returns.tz, ambiguous=False)
