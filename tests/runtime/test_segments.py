"""Bags of rows in segments: how they are kept, merged, forgotten and read on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from buckets import BucketDriver, table
from hypothesis import given
from hypothesis import strategies as st
from tables import LEFT, LEFT_ROW, OP, RIGHT, Epochs, Row, check_join, joined_epochs, seeded, top

from runtime.spark.buckets import segments
from runtime.spark.buckets.change_join import ChangeJoiner, ChangeJoinSpec, Side
from runtime.spark.buckets.ordering import OrderBy
from runtime.spark.buckets.retracting_top_n import RetractingTopN
from runtime.spark.buckets.state import StateError
from runtime.spark.buckets.top_n import Spec

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
    driver.epoch(table(LEFT.append(OP), [(n, f"k{n}", 0, "+I") for n in range(60_000)]))
    store = driver.stores[0]
    (whole,) = map(len, store.stored.values())
    for n in range(50):
        store.written.clear()
        driver.epoch(table(LEFT.append(OP), [(n, f"k{n}", 0, "-U"), (n, f"k{n}", 1, "+U")]))
        assert sum(len(store.stored.get(of, b"")) for of in store.written) < whole / 100
    assert len(store.stored) <= segments.FAN


@pytest.mark.parametrize("version", [1, 2])
def test_a_bag_of_one_segment_is_read_on(version: int) -> None:
    """The state of version 1 had its rows once, in one segment."""
    driver = BucketDriver(top(1, None))
    driver.epoch(table(LEFT.append(OP), [(1, "a", 5, "+I"), (2, "a", 3, "+I")]))
    _written_by(driver, version)
    found = driver.epoch(table(LEFT.append(OP), [(1, "a", 5, "-D")]))
    assert [(row["op"], row["l"]) for row in found] == [("-U", 1), ("+U", 2)]
    assert b'"version":3' in (driver.stores[0].stored_head or b"")


def test_columns_that_were_kept_twice_are_read_on() -> None:
    """Before version 3 a key, or what is sorted by, was kept in a column of its own whatever it was."""
    hidden = pa.schema([*LEFT, ("__key_0", pa.string()), ("__order_0", pa.int64())])
    former = frozenset({"__key_0", "__order_0"})

    def made(schema: pa.Schema, key: str, order: str) -> RetractingTopN:
        spec = Spec(schema, (key,), (OrderBy(order, True, False),), 1, op="op", former=former)
        return RetractingTopN(spec, LEFT.names)

    driver = BucketDriver(lambda: made(hidden, "__key_0", "__order_0"))
    rows = [(1, "a", 5, "a", 5, "+I"), (2, "a", 3, "a", 3, "+I")]
    driver.epoch(table(hidden.append(OP), rows))
    _written_by(driver, 2)
    driver.make = lambda: made(LEFT, "k", "x")
    found = driver.epoch(table(LEFT.append(OP), [(1, "a", 5, "-D")]))
    assert [(row["op"], row["l"], row["k"]) for row in found] == [("-U", 1, "a"), ("+U", 2, "a")]


def test_sides_that_were_kept_with_their_keys_twice_are_read_on() -> None:
    def made(number: int, schema: pa.Schema, key: str, hidden: bool) -> Side:
        name = f"__key_{number}_0"
        kept = pa.schema([*schema, (name, pa.string())]) if hidden else schema
        names = tuple(schema.names)
        return Side(kept, (name if hidden else key,), names, names, number == 0, frozenset({name}))

    def joiner(hidden: bool) -> ChangeJoiner:
        sides = (made(0, LEFT, "k", hidden), made(1, RIGHT, "j", hidden))
        return ChangeJoiner(ChangeJoinSpec(sides, None, "op"))

    driver = BucketDriver(lambda: joiner(True))
    left = pa.schema([*LEFT, ("__key_0_0", pa.string()), OP])
    right = pa.schema([*RIGHT, ("__key_1_0", pa.string()), OP])
    driver.epoch(table(left, [(1, "a", 5, "a", "+I")]), table(right, []))
    _written_by(driver, 2)
    driver.make = lambda: joiner(False)
    found = driver.epoch(table(LEFT.append(OP), []), table(RIGHT.append(OP), [(7, "a", 0.5, "+I")]))
    assert [(row["op"], row["l"], row["r"]) for row in found] == [("-D", 1, None), ("+I", 1, 7)]
    # What is no former column of the operator's is another operator's state.
    _written_by(driver, 3)
    driver.make = lambda: ChangeJoiner(
        ChangeJoinSpec((made(0, LEFT.remove(2), "k", False), made(1, RIGHT, "j", False)), None, "op")
    )
    with pytest.raises(StateError, match="has columns"):
        driver.epoch(table(LEFT.remove(2).append(OP), [(2, "a", "+I")]), table(RIGHT.append(OP), []))


def _written_by(driver: BucketDriver, version: int) -> None:
    """Has the state say that another version wrote it."""
    store = driver.stores[0]
    assert store.stored_head is not None
    store.stored_head = store.stored_head.replace(b'"version":3', f'"version":{version}'.encode())
