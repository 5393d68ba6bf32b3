"""Numbers the rows of an epoch by their arrival."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf


def row_of_task() -> Column:
    """Numbers the rows of each task as they are read, from 0.

    Spark refuses monotonically_increasing_id() on a stream. The function that counts is nested, so that it is
    sent to the workers by value: they need not have headrace.
    """

    def count(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        first = 0
        for batch in batches:
            yield pa.array(range(first, first + len(batch)), pa.int64())
            first += len(batch)

    # Its kind follows from the types of `count`, which no overload of PySpark's knows.
    make: Any = arrow_udf
    # The argument only says how many rows there are.
    number: Column = make(count, "bigint").asNondeterministic()(F.spark_partition_id())
    return number
