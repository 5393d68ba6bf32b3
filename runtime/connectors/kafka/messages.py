"""Rows as messages: what is sent, apart from how it is sent."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.formats import file_format, spark_options
from compiler.jobplan.model import Sink
from runtime.spark.context import quote


def message_keys(sink: Sink) -> list[str]:
    """The columns of a message's key."""
    return [name for name in str(sink.options.get("key.fields", "")).split(";") if name]


def as_messages(sink: Sink, rows: DataFrame) -> DataFrame:
    """The sink's rows as messages, one a row.

    Returns:
        The columns that Spark's own writer for Kafka knows: `value`, and those that the sink has of `key`,
        `headers`, `timestamp` and `partition`.
    """
    form = file_format(sink.options)
    parts = [_encoded(rows.columns, sink, form).alias("value")]
    keys = message_keys(sink)
    if keys:
        parts.append(_encoded(keys, sink, str(sink.options.get("key.format", form))).alias("key"))
    return rows.select(*parts)


def _encoded(names: list[str], sink: Sink, form: str) -> Column:
    """Columns as a message's key or value."""
    if form == "raw":
        return F.col(quote(names[0]))
    row = F.struct(*(F.col(quote(name)) for name in names))
    options = spark_options({**sink.options, "format": form})
    if form == "csv":
        return F.to_csv(row, options)
    # As Flink's JSON: a field without a value is there, as null.
    return F.to_json(row, {**options, "ignoreNullFields": "false"})
