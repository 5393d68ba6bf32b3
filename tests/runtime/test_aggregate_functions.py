"""Aggregate functions in a unit test, and over Arrow's groups as Spark hands them over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

import pyarrow as pa
import pytest

import headrace
from runtime.functions.aggregates import over_groups
from runtime.functions.engine import FunctionFailure

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


@headrace.aggregate
def weighted(price: float, qty: int, scale: float = 1.0) -> float:
    # The annotations are those of one value.
    return (price * qty).sum() / qty.sum() * scale  # type: ignore[attr-defined,no-any-return]  # Series


@headrace.aggregate(vectorized=False)
def path(word: str) -> list[str]:
    return list(word)


@headrace.aggregate(vectorized=False)
def last(at: datetime, _word: str) -> datetime:
    return max(at)  # type: ignore[call-overload,no-any-return]  # lists


@headrace.aggregate
def mean(price: float) -> float:
    return price.mean()  # type: ignore[attr-defined,no-any-return]  # Series


@headrace.aggregate
def wrong(price: float) -> int:
    return price.sum()  # type: ignore[attr-defined,no-any-return]  # Series


@headrace.aggregate
def untyped(price) -> int:  # type: ignore[no-untyped-def]  # what the test is about
    return int(price)


def row(minute: int, **values: Any) -> dict[str, Any]:
    return {"at": NOON + timedelta(minutes=minute), **values}


def test_a_group_in_a_unit_test() -> None:
    rows = [row(2, price=2.0, qty=3), row(1, price=1.0, qty=1)]
    assert headrace.testing.aggregate(weighted, rows, time="at") == 1.75
    # NaN, the mean of nothing, is NULL.
    assert headrace.testing.aggregate(mean, [{"price": 1.0}, {"price": None}]) == 1.0
    assert headrace.testing.aggregate(mean, []) is None
    words = [row(2, word="b"), row(1, word=None), row(2, word="a"), row(0, word="c")]
    assert headrace.testing.aggregate(path, words, time="at") == ["c", None, "a", "b"]
    assert headrace.testing.aggregate(path, words) == [None, "a", "b", "c"]
    seen = [{**one, "_word": "x"} for one in words]
    assert headrace.testing.aggregate(last, seen) == NOON + timedelta(minutes=2)


def test_what_a_unit_test_tells() -> None:
    with pytest.raises(
        FunctionFailure, match=r"test_aggregate_functions\.wrong: ValueError: 1\.5 is no int64"
    ):
        headrace.testing.aggregate(wrong, [{"price": 1.5}])
    with pytest.raises(headrace.DiagnosticError, match="has no type"):
        headrace.testing.aggregate(untyped, [{"price": 1.5}])
    with pytest.raises(TypeError, match="no function under @headrace"):
        headrace.testing.aggregate(row, [])


def groups(type_: pa.DataType, *found: list[Any] | None) -> pa.Array:
    struct = pa.struct([("time", pa.int64()), ("arg0", type_)])
    rows = [None if g is None else [{"time": 0, "arg0": value} for value in g] for g in found]
    return pa.array(rows, pa.list_(struct))


def test_types_of_a_series_hang_on_the_group_alone() -> None:
    seen: list[str] = []

    def kind(values: Any) -> int:
        seen.append(str(values.dtype))
        return len(values)

    # A slice, as of a batch, and a group that is NULL.
    found = groups(pa.int64(), [7], [1, 2], [1, None], [], None, [3])[1:]
    assert over_groups(kind, "f", found, pa.int64(), vectorized=True).to_pylist() == [2, 2, 0, 0, 1]
    assert seen == ["int64", "float64", "int64", "int64", "int64"]


def test_times_are_those_of_a_clock_in_the_zone() -> None:
    zoned = groups(pa.timestamp("us", "Europe/Berlin"), [NOON], [])
    hours: list[int] = []

    def first(at: Any) -> Any:
        hours.extend(at.dt.hour)
        return at.min() if len(at) else import_module("pandas").NaT

    found = over_groups(first, "f", zoned, pa.timestamp("us", "Europe/Berlin"), vectorized=True)
    assert hours == [13]
    assert found.cast(pa.timestamp("us", "UTC")).to_pylist() == [NOON, None]


def test_times_in_lists_are_those_of_series() -> None:
    zoned = groups(pa.timestamp("us", "Europe/Berlin"), [NOON, None])

    def first(at: list[datetime | None]) -> datetime | None:
        assert at == [(NOON + timedelta(hours=1)).replace(tzinfo=None), None]
        return at[0]

    found = over_groups(first, "f", zoned, pa.timestamp("us", "Europe/Berlin"), vectorized=False)
    assert found.cast(pa.timestamp("us", "UTC")).to_pylist() == [NOON]


def test_values_of_another_type_are_refused() -> None:
    def half(values: Any) -> Any:
        return Decimal(len(values)) / 2

    found = groups(pa.int64(), [1, 2, 3])
    assert over_groups(half, "f", found, pa.decimal128(10, 2), vectorized=True).to_pylist() == [
        Decimal("1.50")
    ]
    with pytest.raises(FunctionFailure, match="f: ArrowInvalid"):
        over_groups(half, "f", found, pa.decimal128(10, 0), vectorized=True)
    with pytest.raises(FunctionFailure, match="f: ZeroDivisionError"):
        over_groups(lambda values: len(values) / 0, "f", found, pa.float64(), vectorized=True)
