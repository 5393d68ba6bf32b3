"""Bags of rows in segments: how they are kept, merged, forgotten and read on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from buckets import BucketDriver, table
from hypothesis import given
from hypothesis import strategies as st
from tables import LEFT, LEFT_ROW, OP, Epochs, Row, check_join, joined_epochs, seeded, top

from runtime.spark.buckets import segments

_TTL_MS = 5
_many_epochs = st.lists(st.lists(st.tuples(st.booleans(), LEFT_ROW), max_size=6), min_size=8, max_size=20)


@seeded
@given(_many_epochs)
def test_groups_in_many_segments_are_forgotten(epochs: list[list[tuple[bool, Row]]]) -> None:
    """Segments of all sizes are merged; groups that are forgotten come again while their rows are there."""
    driver = BucketDriver(top(2, "n", _TTL_MS))
    groups: dict[Any, tuple[list[Row], int]] = {}
    first: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_SMALL", 1)
        for now, moves in enumerate(epochs):
            driver.processing_ms = now
            for key in {row[1] for _, row in moves}:
                rows, touched = groups.get(key, ([], now))
                if touched + _TTL_MS <= now:
                    rows = []
                before = Counter(map(repr, _first_two(rows)))
                after, change = list(rows), Counter[Row]()
                for comes, row in moves:
                    if row[1] == key:
                        change[row] += 1 if comes else -1
                for row, times in change.items():
                    after += [row] * times
                    for _ in range(min(-times, after.count(row))):
                        after.reverse()
                        after.remove(row)
                        after.reverse()
                groups[key] = (after, now if Counter(after) != Counter(rows) else touched)
                first.update(Counter(map(repr, _first_two(after))))
                first.subtract(before)
            changed = [(*row, "+I" if comes else "-D") for comes, row in moves]
            for found in driver.epoch(table(LEFT.append(OP), changed)):
                text = repr((found["l"], found["k"], found["x"], found["n"]))
                first[text] -= -1 if found["op"] in ("-U", "-D") else 1
            assert not any(first.values())
        # Each epoch has begun a segment.
        assert len(driver.stores[0].stored) < 8 <= len(epochs)


def _first_two(rows: Sequence[Row]) -> list[Row]:
    order = sorted(rows, key=lambda row: (row[2] is None, -(row[2] or 0), row[0]))
    return [(*row, n) for n, row in enumerate(order[:2], 1)]


@seeded
@given(joined_epochs, st.sampled_from(["inner", "left", "right", "full"]))
def test_a_join_in_many_segments(epochs: Epochs, kind: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_SMALL", 1)
        check_join(epochs * 3, kind, keyed=False)


def test_an_epoch_writes_what_it_changes() -> None:
    """A bag is not written again as a whole, and what was taken back is not kept for ever."""
    driver = BucketDriver(top(1, None))
    driver.epoch(table(LEFT.append(OP), [(n, f"k{n}", 0, "+I") for n in range(20_000)]))
    store = driver.stores[0]
    (whole,) = map(len, store.stored.values())
    for n in range(50):
        store.written.clear()
        driver.epoch(table(LEFT.append(OP), [(n, f"k{n}", 0, "-U"), (n, f"k{n}", 1, "+U")]))
        assert sum(len(store.stored.get(of, b"")) for of in store.written) < whole / 100
    assert len(store.stored) <= segments.FAN


def test_a_bag_of_one_segment_is_read_on() -> None:
    """The state of version 1 had its rows once, in one segment."""
    driver = BucketDriver(top(1, None))
    driver.epoch(table(LEFT.append(OP), [(1, "a", 5, "+I"), (2, "a", 3, "+I")]))
    store = driver.stores[0]
    assert store.stored_head is not None
    store.stored_head = store.stored_head.replace(b'"version":2', b'"version":1')
    found = driver.epoch(table(LEFT.append(OP), [(1, "a", 5, "-D")]))
    assert [(row["op"], row["l"]) for row in found] == [("-U", 1), ("+U", 2)]
    assert b'"version":2' in store.stored_head
