"""Files and Delta, beside Spark's own appends to a folder and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.sinks.base import Comparison, writer

_LIMIT = 0.95
# Epochs are short and the limit is near: a ratio of a few rounds is more noise than either.
_ROUNDS = 25


class FilesBench:
    """Parquet files by the manifest's protocol, and a Delta table by transactions with an epoch's number."""

    name = "files"
    packages: tuple[str, ...] = ("io.delta:delta-spark_4.2_2.13:4.4.0",)

    @contextmanager
    def comparisons(
        self, session: SparkSession, rows: DataFrame, folder: Path
    ) -> Iterator[Sequence[Comparison]]:
        """Nothing has to be started."""
        files = writer(session, folder, "filesystem", {"path": "files", "format": "parquet"}, rows)
        table = writer(session, folder, "delta", {"path": "table"}, rows)

        def plain(name: str) -> None:
            rows.write.format(name).mode("append").save(str(folder / f"plain-{name}"))

        yield (
            Comparison(
                "files / plain parquet",
                _LIMIT,
                lambda number: files.write(number, rows),
                lambda _: plain("parquet"),
                _ROUNDS,
            ),
            Comparison(
                "delta / plain delta",
                _LIMIT,
                lambda number: table.write(number, rows),
                lambda _: plain("delta"),
                _ROUNDS,
            ),
        )
