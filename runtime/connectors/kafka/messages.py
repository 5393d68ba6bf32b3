"""Rows as messages: what is sent, apart from how it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.formats import file_format, key_fields, key_format, spark_options, value_fields
from compiler.jobplan.model import Sink
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.kafka.avro import clocks_of, write_avro
from runtime.connectors.kafka.registry import number_of
from runtime.connectors.sinks.base import columns_of
from runtime.connectors.sinks.settle import settle
from runtime.spark.changes import DELETE
from runtime.spark.context import quote

_HEADERS: Final = "array<struct<key: string, value: binary>>"


def settles(sink: Sink) -> bool:
    """Whether a topic gets one message a key and epoch; looking for it computes the batch several times."""
    return bool(sink.primary_key) or sink.upsert


def message_rows(sink: Sink, epoch: int, batch: DataFrame) -> DataFrame:
    """The rows of an epoch that become messages; of several changes of a key the last, with its operation.

    Raises:
        DiagnosticError: nothing says which change of a key is the last (HR408).
    """
    return settle(sink, epoch, batch) if settles(sink) else columns_of(sink, batch)


def as_messages(sink: Sink, rows: DataFrame) -> DataFrame:
    """The sink's rows as messages, one a row.

    Args:
        sink: with its columns, of which `metadata` are sent beside key and value.
        rows: what `message_rows` gives.

    Returns:
        `value` (NULL where a message deletes), and those that the sink has of `key`, `headers` and
        `timestamp`; without a time of its own a message has that at which it is sent.
    """
    options = sink.options
    names = [column.name for column in sink.columns if column.name not in sink.metadata]
    named = {name: name for name in value_fields(options, names)}
    form = file_format(options)
    if form == "debezium-json":
        value = _debezium(sink, named)
    else:
        value = _encoded(sink, rows, named, form, "value")
        if sink.upsert:
            value = F.when(F.col(OP_COLUMN) != DELETE, value)
    parts = [value.alias("value")]
    keys = key_fields(options)
    if keys:
        parts.append(_encoded(sink, rows, keys, key_format(options), "key").alias("key"))
    parts += [_METADATA[key](F.col(quote(name))).alias(key) for name, key in sink.metadata.items()]
    return rows.select(*parts)


def _encoded(sink: Sink, rows: DataFrame, named: Mapping[str, str], form: str, part: str) -> Column:
    """Columns as a message's key or value, under the names that they have there."""
    if form == "raw":
        return F.col(quote(next(iter(named))))
    row = _row(named)
    if form == "protobuf":
        # Imported by those alone who use it.
        from runtime.connectors.kafka.protobuf import write_protobuf

        # A row that is deleted has no value, and may have NULL where a message cannot.
        there = F.col(OP_COLUMN) != DELETE if sink.upsert and part == "value" else F.lit(True)
        return write_protobuf(F.when(there, row), sink.options, part)
    if form in ("avro", "avro-confluent"):
        schema = str(sink.options["avro.schema" if part == "value" else "key.avro.schema"])
        number = number_of(sink.options, part, schema) if form == "avro-confluent" else None
        return write_avro(_row(named, clocks_of(schema, rows.sparkSession)), schema, number)
    return F.to_csv(row, _options(sink, form)) if form == "csv" else _json(sink, row, form)


def _row(named: Mapping[str, str], types: Mapping[str, str] | None = None) -> Column:
    """Columns as a struct, of other types if there are any by the names in lower case."""
    columns = {there: F.col(quote(name)) for name, there in named.items()}
    if types:
        columns = {there: column.cast(types[there.lower()]) for there, column in columns.items()}
    return F.struct(*(column.alias(there) for there, column in columns.items()))


def _json(sink: Sink, row: Column, form: str) -> Column:
    """As Flink's JSON: a field without a value is there, as null."""
    return F.to_json(row, {**_options(sink, form), "ignoreNullFields": "false"})


def _options(sink: Sink, form: str) -> dict[str, str]:
    return spark_options({**sink.options, "format": form})


def _debezium(sink: Sink, named: Mapping[str, str]) -> Column:
    """As Flink writes them: a row that is there from now on is created, whatever was there before."""
    row, deleted = _row(named), F.col(OP_COLUMN) == DELETE if sink.upsert else F.lit(False)
    envelope = F.struct(
        F.when(deleted, row).alias("before"),
        F.when(~deleted, row).alias("after"),
        F.when(deleted, F.lit("d")).otherwise(F.lit("c")).alias("op"),
    )
    return _json(sink, envelope, "debezium-json")


def _headers(column: Column) -> Column:
    return F.map_entries(column.cast("map<string, binary>")).cast(_HEADERS)


def _timestamp(column: Column) -> Column:
    return column.cast("timestamp")


_METADATA: Final = {"headers": _headers, "timestamp": _timestamp}
