"""One bucket in one epoch: late rows, the operator, the state, the timer."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.state import BucketState, Head, Store


def run_epoch(
    operator: BucketOperator,
    store: Store,
    inputs: Sequence[pa.Table] | None,
    watermark_ms: int,
    processing_ms: int = 0,
) -> list[pa.Table]:
    """Calls the operator for what the epoch brings to a bucket.

    Called once an epoch and bucket if there are rows, and once by a timer; the order does not matter.

    Args:
        operator: the operator.
        store: the bucket's bytes.
        inputs: its rows, one table an input, or None if a timer calls.
        watermark_ms: that of eviction, as Spark tells it.
        processing_ms: the epoch's logged time.

    Returns:
        Tables to emit, in order.
    """
    data = store.head()
    head = (
        Head(operator.version) if data is None else Head.from_bytes(data, operator.version, operator.readable)
    )
    watermarks = Watermarks(head.watermark_ms, watermark_ms, processing_ms)
    rows = None if inputs is None else _on_time(operator, inputs, watermarks.late_ms)
    moved = watermark_ms != head.watermark_ms
    if rows is None and not moved and data is not None:
        return []

    state = BucketState(store, head, operator.tables)
    emitted: list[pa.Table | None] = []
    with _collector_paused():
        if rows is not None:
            emitted.append(operator.process(rows, state, watermarks))
        if head.wake_ms is not None and head.wake_ms <= watermark_ms:
            emitted.append(operator.expire(state, watermarks))
    state.flush()
    head.watermark_ms = watermark_ms
    # Just ahead of the watermark: it fires in the next epoch that moves it, whatever happens then.
    if head.timer_ms != watermark_ms + 1:
        store.move_timer(head.timer_ms, watermark_ms + 1)
        head.timer_ms = watermark_ms + 1
    encoded = head.to_bytes()
    if encoded != data:
        store.set_head(encoded)
    return [table for table in emitted if table is not None and table.num_rows]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Operators in plain Python make many objects, few of them in cycles: looking for these takes a sixth."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _on_time(operator: BucketOperator, inputs: Sequence[pa.Table], late_ms: int) -> Sequence[pa.Table] | None:
    """The rows that are not late, or None if there are none at all."""
    kept: list[pa.Table] = []
    for rows, column in zip(inputs, operator.late_columns, strict=True):
        if column is None or not rows.num_rows:
            kept.append(rows)
            continue
        # Spark compares microseconds, and drops what is no greater; a row without a time is late, too.
        times = rows.column(column).cast(pa.int64())
        kept.append(rows.filter(pc.greater(times, late_ms * 1000)))
    return kept if any(rows.num_rows for rows in kept) else None
