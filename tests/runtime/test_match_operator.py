"""MATCH_RECOGNIZE by bucket: whatever the epochs are, the matches are those of the rows in order."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from buckets import MOMENT, BucketDriver, table
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.jobplan.operators.base import Item
from compiler.jobplan.operators.match import (
    ALL_ROWS,
    Apply,
    Condition,
    Constant,
    Fold,
    Match,
    Navigation,
    Order,
    Output,
    Repeat,
    Sequence,
    Skip,
    Variable,
)
from runtime.match.matcher import Matcher, Partial
from runtime.match.operator import MatchFailure, MatchOperator
from runtime.state.checkpoint import CLOSED_WATERMARK_MS

ROWS = pa.schema(
    [
        ("__key_0", pa.string()),
        ("__time", MOMENT),
        ("__order_0", pa.int64()),
        ("__read_0", pa.int64()),
    ]
)
OUTPUT = pa.schema([("__key_0", pa.string()), ("__out_0", pa.int64()), ("__out_1", pa.int64())])
PAST_LAST_ROW = Skip("past_last_row")
A, B, C = Variable("A"), Variable("B"), Variable("C")


def read(variable: str, offset: int = 0) -> Navigation:
    return Navigation("__read_0", variable, "last", offset, "BIGINT")


def operator(
    skip: Skip = PAST_LAST_ROW, within_ms: int | None = None, order: tuple[Order, ...] = ()
) -> Match:
    """A rise that a fall ends: every row of it is greater than the one before."""
    rises = Apply(
        "OR",
        (Apply("IS NULL", (read("B", 1),), "BOOLEAN"), Apply(">", (read("B"), read("B", 1)), "BOOLEAN")),
        "BOOLEAN",
    )
    return Match(
        id="o1",
        uid="m.match",
        inputs=("o0",),
        key_columns=("k",),
        time_column="ts",
        delay_ms=0,
        order=order,
        reads=(Item("__read_0", "v"),),
        pattern=Sequence((A, Repeat(B, 1, None, True), C)),
        conditions=(
            Condition("B", Apply("AND", (rises, Apply(">", (read("B"), read("A")), "BOOLEAN")), "BOOLEAN")),
            Condition("C", Apply("<", (read("C"), read("B")), "BOOLEAN")),
        ),
        skip=skip,
        within_ms=within_ms,
        outputs=(
            Output("__out_0", Fold("count", None, ALL_ROWS, "BIGINT")),
            Output("__out_1", Fold("sum", "__read_0", "B", "BIGINT")),
        ),
        measures=(),
        buckets=1,
    )


Event = tuple[str, int, int]
"""Key, second and value."""


def at_once(op: Match, events: list[Event]) -> list[tuple[Any, ...]]:
    """The matches of the rows in the order of time, key by key."""
    found: list[tuple[Any, ...]] = []
    for key in sorted({event[0] for event in events}):
        matcher, partial = Matcher(op, ("__read_0",)), Partial()
        for _, second, value in sorted((e for e in events if e[0] == key), key=lambda e: e[1]):
            found += [(key, *m) for m in matcher.process(partial, (value,), second * 1_000_000)]
        found += [(key, *m) for m in matcher.finish(partial)]
    return sorted(found)


def rows(events: list[Event]) -> pa.Table:
    return table(ROWS, [(key, second * 1000, 0, value) for key, second, value in events])


@settings(max_examples=150, deadline=None)
@given(
    values=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4)), max_size=14),
    cuts=st.lists(st.integers(0, 13), max_size=5),
    skip=st.sampled_from([Skip("past_last_row"), Skip("to_next_row"), Skip("to_last", "B")]),
    within_ms=st.none() | st.sampled_from([2_000, 4_000]),
)
def test_epochs_do_not_matter(
    values: list[tuple[str, int]], cuts: list[int], skip: Skip, within_ms: int | None
) -> None:
    events = [(key, second, value) for second, (key, value) in enumerate(values, 1)]
    op = operator(skip, within_ms)
    driver = BucketDriver(lambda: MatchOperator(op, ROWS, OUTPUT))
    found: list[dict[str, Any]] = []
    begun = 0
    for cut in sorted({*(cut for cut in cuts if cut < len(events)), len(events)}):
        part = events[begun:cut]
        # Out of order within the epoch; the watermark of an epoch is that of the one before.
        found += driver.epoch(rows(part[::-1]), watermark_ms=events[begun - 1][1] * 1000 if begun else 0)
        begun = max(begun, cut)
    found += driver.epoch(watermark_ms=CLOSED_WATERMARK_MS)
    assert sorted(tuple(row.values()) for row in found) == at_once(op, events)


def test_a_match_goes_out_with_the_watermark_that_passes_its_last_row() -> None:
    op = operator()
    driver = BucketDriver(lambda: MatchOperator(op, ROWS, OUTPUT))
    assert driver.epoch(rows([("a", 1, 1), ("a", 2, 5), ("a", 4, 3)])) == []
    assert driver.epoch(watermark_ms=2_500) == []
    assert driver.epoch(rows([("a", 3, 9)]), watermark_ms=3_999) == []
    assert driver.epoch(watermark_ms=4_000) == [{"__key_0": "a", "__out_0": 4, "__out_1": 14}]


def test_within_forgets_what_the_watermark_has_passed() -> None:
    op = operator(within_ms=10_000)
    driver = BucketDriver(lambda: MatchOperator(op, ROWS, OUTPUT))
    driver.epoch(rows([("a", 1, 1), ("a", 2, 5)]))
    driver.epoch(watermark_ms=2_000)
    (store,) = driver.stores.values()
    assert ("beginnings", 0) in store.stored
    driver.epoch(watermark_ms=12_000)
    assert store.stored == {}


def test_rows_of_one_time_are_sorted_by_the_further_columns() -> None:
    op = operator(order=(Order("n", True, False),))
    driver = BucketDriver(lambda: MatchOperator(op, ROWS, OUTPUT))
    same = [("a", 1000, None, 2), ("a", 1000, 1, 5), ("a", 1000, 2, 4), ("a", 1000, 3, 3)]
    driver.epoch(table(ROWS, same))
    # 3, 4, 5, and what has no number comes last.
    assert driver.epoch(watermark_ms=1_000) == [{"__key_0": "a", "__out_0": 4, "__out_1": 9}]


def test_a_condition_that_cannot_be_computed_names_the_operator() -> None:
    op = operator()
    quotient = Apply("DIV", (read(ALL_ROWS), Constant(0, "BIGINT")), "BIGINT")
    broken = Match(
        **{name: getattr(op, name) for name in op.__struct_fields__ if name != "conditions"},
        conditions=(Condition("A", Apply(">", (quotient, Constant(1, "BIGINT")), "BOOLEAN")),),
    )
    driver = BucketDriver(lambda: MatchOperator(broken, ROWS, OUTPUT))
    driver.epoch(rows([("a", 1, 1)]))
    with pytest.raises(MatchFailure, match=r"m\.match: division by zero"):
        driver.epoch(watermark_ms=1_000)
