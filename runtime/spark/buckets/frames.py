"""Aggregates over frames of sorted rows, all rows at once.

A frame is a half-open range of positions: `start` and `end` of every row, of which none is empty. Values
are Arrow columns; where Arrow has no arithmetic of its own (decimals), they are Python's whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.ordering import Numbers, starts_of

_LEAST, _GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Frames:
    """The frame of each row; `begin` is where the row's group begins."""

    start: Numbers
    end: Numbers
    begin: Numbers

    @classmethod
    def of_rows(cls, groups: Numbers, preceding: int | None) -> Frames:
        """A number of rows before each and itself; None is all rows before."""
        begin, position = starts_of(groups), np.arange(len(groups))
        start = begin if preceding is None else np.maximum(begin, position - preceding)
        return cls(start, position + 1, begin)

    @classmethod
    def of_range(cls, groups: Numbers, times: Numbers, preceding: int | None) -> Frames:
        """A length of time before each, its own moment included; in the unit of `times`."""
        begin = starts_of(groups)
        # Times by their place among the distinct ones, so that group and time make one number that fits.
        moments, place = np.unique(times, return_inverse=True)
        dense = np.cumsum(begin == np.arange(len(groups))) - 1
        rows = dense * (len(moments) + 1) + place
        end = np.searchsorted(rows, rows, "right")
        if preceding is None:
            return cls(begin, end, begin)
        first = dense * (len(moments) + 1) + np.searchsorted(moments, times - preceding, "left")
        return cls(np.searchsorted(rows, first, "left"), end, begin)


def counts(weights: Numbers, frames: Frames) -> Numbers:
    """The sum of weights, which are 1 for a row that counts."""
    total = _running(weights)
    found: Numbers = total[frames.end] - total[frames.start]
    return found


def sums(values: pa.Array, frames: Frames) -> pa.Array:
    """Sums without the NULLs, NULL where there is nothing else: 64-bit, double, or decimal of 38 digits."""
    valid = _valid(values)
    present = counts(valid.astype(np.int64), frames) > 0
    if pa.types.is_floating(values.type):
        numbers = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        return pa.array(_float_sums(numbers, frames), mask=~present)
    if pa.types.is_decimal(values.type):
        total = np.array([0, *accumulate(unscaled(values))], object)
        inside = (total[frames.end] - total[frames.start]).tolist()
        return from_unscaled(inside, present, values.type.scale)
    total = _running(pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False))
    return pa.array(total[frames.end] - total[frames.start], mask=~present)


def means(total: pa.Array, count: Numbers, type_: pa.DataType) -> pa.Array:
    """Sums divided by counts, in the type of an average."""
    if not pa.types.is_decimal(type_):
        with np.errstate(all="ignore"):
            numbers = pc.fill_null(total.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
            return pa.array(numbers / count, mask=pc.is_null(total).to_numpy(zero_copy_only=False))
    up = 10 ** (type_.scale - total.type.scale)
    halves = [
        _half_up(number * up, int(n)) if n else 0 for number, n in zip(unscaled(total), count, strict=True)
    ]
    return from_unscaled(halves, _valid(total), type_.scale)


def extremes(values: pa.Array, frames: Frames, *, greatest: bool) -> pa.Array:
    """The least or the greatest value without the NULLs; NaN is the greatest of all, as in Spark."""
    codes, decoded = _coded(values)
    worst = _LEAST if greatest else _GREATEST
    valid = _valid(values)
    level = np.where(valid, codes, worst)
    best = np.maximum if greatest else np.minimum
    # A sparse table: level k has the best of 2**k rows from each on; two of them cover a frame.
    levels = [level]
    longest = int((frames.end - frames.start).max(initial=1))
    while 2 ** len(levels) <= longest:
        half = 2 ** (len(levels) - 1)
        level = level.copy()
        level[:-half] = best(level[:-half], level[half:])
        levels.append(level)
    power = np.int64(np.log2(frames.end - frames.start))
    table = np.stack(levels)
    found = best(table[power, frames.start], table[power, frames.end - (1 << power)])
    present = counts(valid.astype(np.int64), frames) > 0
    return decoded(np.where(present, found, 0), present)


def first_values(values: pa.Array, frames: Frames, *, ignore_nulls: bool) -> pa.Array:
    """The value at the beginning of the frame."""
    if not ignore_nulls:
        return values.take(pa.array(frames.start))
    valid = _valid(values)
    # For each position the next one that has a value.
    here = np.where(valid, np.arange(len(values)), len(values))
    following = np.minimum.accumulate(here[::-1])[::-1] if len(here) else here
    found = following[frames.start]
    return values.take(pa.array(found, mask=found >= frames.end))


def last_values(values: pa.Array, frames: Frames, *, ignore_nulls: bool) -> pa.Array:
    """The value at the end of the frame."""
    if not ignore_nulls:
        return values.take(pa.array(frames.end - 1))
    here = np.where(_valid(values), np.arange(len(values)), -1)
    found = np.maximum.accumulate(here)[frames.end - 1] if len(here) else here
    return values.take(pa.array(found, mask=found < frames.start))


def lagged(values: pa.Array, frames: Frames, offset: int, default: pa.Array | None) -> pa.Array:
    """The value some rows before in the group, or the row's default."""
    source = np.arange(len(values)) - offset
    missing = source < frames.begin
    found = values.take(pa.array(source, mask=missing))
    if default is None:
        return found
    return pc.if_else(pa.array(missing), default.cast(found.type), found)


# --- numbers ---------------------------------------------------------------------------------------------


def unscaled(values: pa.Array) -> list[int]:
    """Decimals as whole numbers of their last digit; NULL is 0."""
    scale = values.type.scale
    with localcontext() as context:
        context.prec = 80
        return [0 if v is None else int(v.scaleb(scale)) for v in values.to_pylist()]


def from_unscaled(numbers: Sequence[Any], present: Any, scale: int) -> pa.Array:
    """Whole numbers of the last digit as decimals of 38 digits."""
    with localcontext() as context:
        context.prec = 80
        decimals = [
            Decimal(int(n)).scaleb(-scale) if p else None for n, p in zip(numbers, present, strict=True)
        ]
    return pa.array(decimals, pa.decimal128(38, scale))


def _half_up(number: int, divisor: int) -> int:
    sign = -1 if number < 0 else 1
    return sign * ((2 * abs(number) + divisor) // (2 * divisor))


def _running(values: Numbers) -> Numbers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])


def _float_sums(values: Any, frames: Frames) -> Any:
    """Added up frame by frame: a difference of running sums would lose digits, and never forget a NaN."""
    if not len(values):
        return values
    if (frames.start == frames.begin).all():
        begins = np.unique(frames.begin)
        totals = np.empty_like(values)
        for begin, end in zip(begins, [*begins[1:], len(values)], strict=True):
            np.cumsum(values[begin:end], out=totals[begin:end])
        return totals[frames.end - 1]
    # reduceat takes pairs of bounds; what lies between two frames is thrown away.
    bounds = np.column_stack([frames.start, frames.end]).ravel()
    return np.add.reduceat(np.append(values, 0.0), bounds)[::2]


def _valid(values: pa.Array) -> Any:
    return pc.is_valid(values).to_numpy(zero_copy_only=False)


def _coded(values: pa.Array) -> tuple[Numbers, Any]:
    """Numbers in the order of the values, and how to get values back."""
    if pa.types.is_integer(values.type) or pa.types.is_timestamp(values.type):
        codes = pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return codes, lambda found, present: pa.array(found, mask=~present).cast(values.type)
    encoded = pc.dictionary_encode(values)
    ordered = pc.sort_indices(encoded.dictionary)
    places = np.zeros(len(ordered) + 1, np.int64)
    places[ordered.to_numpy()] = np.arange(len(ordered))
    codes = places[pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)]
    sorted_values = encoded.dictionary.take(ordered)
    return codes, lambda found, present: sorted_values.take(pa.array(found, mask=~present))
