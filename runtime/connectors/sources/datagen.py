"""Made-up rows, always the same for one seed and row number."""

from __future__ import annotations

from pathlib import Path

from pyspark import cloudpickle
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.model import Column, Options, Scan
from runtime.connectors.sources import row_numbers
from runtime.spark.changes import sequence
from runtime.spark.context import Context

_DEFAULT_START = "2024-01-01 00:00:00"
_DEFAULT_LENGTH = 16
_BITS = 53  # what a DOUBLE holds exactly
_RANGES: dict[str, tuple[int, int]] = {
    "TINYINT": (0, 2**7 - 1),
    "SMALLINT": (0, 2**15 - 1),
    "INT": (0, 2**31 - 1),
    "INTEGER": (0, 2**31 - 1),
    "BIGINT": (0, 2**53 - 1),
}


class DatagenSource:
    """Row numbers are a source of their own, kept exactly; columns are expressions over the number.

    So a replayed epoch has the same rows, and the values cost no Python.
    """

    def check(self, scan: Scan, project_dir: Path) -> list[Diagnostic]:
        """Nothing outside the plan is needed."""
        return []

    def check_log(self, scan: Scan, log: Path, done: str | None) -> list[Diagnostic]:
        """Rows that were made stay as they are."""
        return []

    def read(self, scan: Scan, ctx: Context) -> DataFrame:
        """The declared columns, made from the row number."""
        # By value, since the workers need not have headrace.
        cloudpickle.register_pickle_by_value(row_numbers)  # type: ignore[no-untyped-call]  # vendored, untyped
        ctx.session.dataSource.register(row_numbers.RowNumbers)
        rate = int(scan.options.get("rows_per_second", 10_000))
        numbers = (
            ctx.session.readStream.name(scan.read_name)
            .format(row_numbers.NAME)
            .options(
                rows_per_second=rate,
                number_of_rows=_number_of_rows(scan),
                max_rows_per_epoch=int(scan.options.get("max_rows_per_epoch", 0)),
                partitions=max(1, ctx.session.sparkContext.defaultParallelism),
            )
            .load()
        )
        maker = _Maker(scan.options, rate)
        number = F.col(row_numbers.COLUMN)
        arrival = [sequence(F.lit(0), F.lit(""), F.lit(0), number)] if scan.sequence else []
        return numbers.select(*(maker.column(c).alias(c.name) for c in scan.columns), *arrival)


def _number_of_rows(scan: Scan) -> int:
    """The end: as said, and not beyond that of any sequence; -1 if there is none."""
    ends = [int(scan.options["number_of_rows"])] if "number_of_rows" in scan.options else []
    for column in scan.declared or scan.columns:
        prefix = f"fields.{column.name}."
        if f"{prefix}end" in scan.options:
            first = int(scan.options.get(f"{prefix}start", 0))
            ends.append(max(0, int(scan.options[f"{prefix}end"]) - first + 1))
    return min(ends, default=-1)


class _Maker:
    """Makes column expressions. All chance comes from hashes of seed, column and row number."""

    def __init__(self, options: Options, rate: int) -> None:
        self._options = options
        self._seed = int(options.get("seed", 0))
        self._rate = rate

    def column(self, column: Column) -> SparkColumn:
        value = self._value(column).cast(column.type)
        rate = self._get(column, "null_rate")
        if rate is None:
            return value
        return F.when(self._fraction(column, "null") >= float(rate), value)

    def _value(self, column: Column) -> SparkColumn:
        kind = self._get(column, "kind")
        values = self._get(column, "values")
        base = column.type.upper().split("(")[0].strip()
        if values is not None:
            choices = [F.lit(text.strip()) for text in str(values).split(",")]
            position = F.pmod(self._hash(column), F.lit(len(choices)))
            return F.element_at(F.array(*choices), position.cast("int") + 1)
        if kind == "sequence":
            return F.col(row_numbers.COLUMN) + F.lit(int(self._get(column, "start") or 0))
        if base.startswith("TIMESTAMP"):
            return self._timestamp(column, kind)
        if base == "BOOLEAN":
            return F.pmod(self._hash(column), F.lit(2)) == 1
        if base == "STRING":
            return self._text(column)
        if base == "DATE":
            return self._timestamp(column, kind).cast("date")
        if base in _RANGES:
            low, high = _RANGES[base]
            first = int(self._get(column, "min") or low)
            last = int(self._get(column, "max") or max(high, first))
            return F.lit(first) + F.pmod(self._hash(column), F.lit(last - first + 1))
        first_number = float(self._get(column, "min") or 0)
        last_number = float(self._get(column, "max") or first_number + 1)
        return F.lit(first_number) + self._fraction(column) * F.lit(last_number - first_number)

    def _timestamp(self, column: Column, kind: str | None) -> SparkColumn:
        low, high = self._get(column, "min"), self._get(column, "max")
        if kind == "random" and low is not None and high is not None:
            first = F.unix_micros(F.lit(low).cast("timestamp"))
            span = F.unix_micros(F.lit(high).cast("timestamp")) - first + 1
            return F.timestamp_micros(first + F.pmod(self._hash(column), span))
        start = F.lit(str(self._options.get("start", _DEFAULT_START))).cast("timestamp")
        # Whole numbers: a quotient of doubles would drift after a few billion rows.
        step = F.expr(f"({row_numbers.COLUMN} * 1000000) div {self._rate}")
        return F.timestamp_micros(F.unix_micros(start) + step)

    def _text(self, column: Column) -> SparkColumn:
        length = int(self._get(column, "length") or _DEFAULT_LENGTH)
        parts = [F.lpad(F.hex(self._hash(column, f"text{i}")), 16, "0") for i in range(-(-length // 16))]
        return F.lower(F.substring(F.concat(*parts), 1, length))

    def _hash(self, column: Column, part: str = "") -> SparkColumn:
        return F.xxhash64(F.col(row_numbers.COLUMN), F.lit(self._seed), F.lit(f"{column.name}/{part}"))

    def _fraction(self, column: Column, part: str = "") -> SparkColumn:
        """A number in [0, 1)."""
        return F.shiftrightunsigned(self._hash(column, part), 64 - _BITS) / F.lit(float(2**_BITS))

    def _get(self, column: Column, name: str) -> str | None:
        value = self._options.get(f"fields.{column.name}.{name}")
        return None if value is None else str(value)
