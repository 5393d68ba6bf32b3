"""Rows to one value of Arrow bytes a bucket, and back: runs in Python workers, before and after the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.state import to_bytes

BUCKET = "__bucket"
INPUT = "__input"
TASK = "__task"
ROWS = "__rows"
PACKED = f"{BUCKET} INT, {INPUT} INT, {TASK} BIGINT, {ROWS} BINARY"

# A value should be a good deal larger than its Arrow schema, and fit in memory many times over.
_ROWS_AT_ONCE = 500_000
# More than a task ever sends values for one bucket.
_PARTS = 1_000_000

Stage = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def packer(buckets: int, number: int) -> Stage:
    """Packs the rows of a task, whose column `__bucket` says where each belongs.

    Args:
        buckets: how many there are.
        number: which input of the operator this is.
    """

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = _task()
        if task == 0:
            # Every bucket is called in every epoch with input, be it with nothing.
            yield _values([(bucket, None) for bucket in range(buckets)], number, 0)
        for part, table in enumerate(_collected(batches)):
            yield _values(_by_bucket(table), number, task * _PARTS + part)

    return pack


def unpacker(schema: pa.Schema) -> Stage:
    """Unpacks what the operator emitted, as columns of `schema`."""

    def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for value in batch.column(0):
                yield from shaped(from_bytes(value.as_buffer()), schema).to_batches()

    return unpack


def shaped(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of a schema, by name, in its types."""
    return rows.select(schema.names).cast(schema)


def from_bytes(data: bytes | pa.Buffer) -> pa.Table:
    """A table from an Arrow stream."""
    return pa.ipc.open_stream(data).read_all()


def _task() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _collected(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= _ROWS_AT_ONCE:
            yield pa.Table.from_batches(held)
            held, count = [], 0
    if count:
        yield pa.Table.from_batches(held)


def _by_bucket(table: pa.Table) -> list[tuple[int, bytes | None]]:
    """Slices by bucket; rows of one bucket stay in the order in which they came."""
    buckets = table.column(BUCKET).combine_chunks()
    rows = table.drop_columns([BUCKET])
    order = pc.array_sort_indices(buckets)
    sorted_rows = rows.take(order).combine_chunks()
    runs = pc.run_end_encode(buckets.take(order))
    found: list[tuple[int, bytes | None]] = []
    start = 0
    for bucket, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        found.append((bucket, to_bytes(sorted_rows.slice(start, end - start))))
        start = end
    return found


def _values(values: list[tuple[int, bytes | None]], number: int, task: int) -> pa.RecordBatch:
    return pa.record_batch(
        [
            pa.array([bucket for bucket, _ in values], pa.int32()),
            pa.array([number] * len(values), pa.int32()),
            pa.array([task] * len(values), pa.int64()),
            pa.array([data for _, data in values], pa.binary()),
        ],
        names=[BUCKET, INPUT, TASK, ROWS],
    )
