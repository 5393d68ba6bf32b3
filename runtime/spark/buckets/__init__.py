"""State by bucket: stateful operators that Spark does not have, written over Arrow tables.

Rows are distributed by `pmod(hash(keys), buckets)`. A bucket is what Spark's transformWithState knows as a
key; the operator keeps the state of all keys of a bucket together and works on them at once, vectorised. A
state call is a round trip between two processes, so one call a bucket and not one a key makes it quick.

To write an operator
--------------------

1. Subclass `BucketOperator`: say in `tables` what is kept, in `version` how, and in `late_columns` which
   event time makes a row late. `process` takes the epoch's rows, `expire` what the watermark has passed;
   both get the bucket's `BucketState` and the epoch's `Watermarks`, and return rows or None.
2. Lower to it with `lowering.bucketed(...)`, which packs, distributes, runs and unpacks.
3. Test it without Spark: `tests/runtime/buckets.py` has a driver that feeds tables and watermarks by epoch.

An epoch of a bucket
--------------------

Spark's rule for late rows holds: epoch N drops what lies at or before the watermark known at the end of
epoch N-2 (`Watermarks.late_ms`), and closes what lies at or before that of N-1 (`Watermarks.current_ms`).

- Late rows are dropped by the framework before the operator sees anything, for each input that names a late
  column.
- `process(inputs, state, watermarks)` is called in each epoch that has rows for the bucket: one table an
  input, in the order of arrival, possibly empty.
- `expire(state, watermarks)` is called after it, and in epochs without rows, as soon as the watermark has
  reached `state.wake_ms`. It returns what is due and sets `wake_ms` anew (or None).
- What `process` and `expire` return goes out in that order. An operator that hands on event times emits a row
  no later than the first epoch whose `current_ms` has reached its time; then it is not late for the next
  operator either.

`state` holds named tables, each in slices by an integer that the operator chooses (a part of event time,
mostly; 0 if there is one slice only). A slice is read when asked for, and written at the end of the epoch if
it was changed, so an epoch costs what it touches. Keep what is looked up by key in few slices, what waits
for a time in slices by that time, and what mostly grows in segments (`segments.py`).

Operators are pickled to Python workers. These modules import pyarrow only, `lowering` and `processor` PySpark
besides; keep it so, since a worker has ten seconds to come up.

How it runs
-----------

Rows cross into Python as Arrow batches, once, and are packed: each task sends a bucket's rows as one value of
Arrow bytes, so that types arrive as they are and Spark moves and sorts a handful of rows. Spark's own late
filter cannot see into them. Hence each bucket remembers the watermark of the epoch before, for which it is
called whenever the watermark moves: it keeps a timer just ahead of it (Spark tells a processor the watermark
of N-1 only). The first task of each epoch sends every bucket an empty value, so that all buckets exist, and
keep time, from the first epoch that has input.
"""

from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.state import BucketState, Slice, StateTable

__all__ = ["BucketOperator", "BucketState", "Slice", "StateTable", "Watermarks"]
