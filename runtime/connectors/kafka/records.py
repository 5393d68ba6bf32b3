"""Messages as rows: what is read of a message, and what becomes of one that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan import model as job
from compiler.jobplan.formats import (
    DELETION,
    OPERATION,
    file_format,
    key_fields,
    key_format,
    spark_options,
    value_fields,
)
from runtime.connectors.kafka.avro import check_record, fitted, is_broken, read_avro, read_registered
from runtime.connectors.kafka.registry import schemas_of, subject_of
from runtime.spark.changes import sequence
from runtime.spark.context import quote

# What the failure mapper looks for.
BAD_RECORD_MARKER: Final = "[headrace:bad_record]"

# Columns of ours, while a message is taken apart.
_VALUE, _KEY, _RAW_VALUE, _RAW_KEY = "__value", "__key", "__raw_value", "__raw_key"
_CORRUPT, _BAD, _POSITION, _PARTITION = "__corrupt", "__bad", "__position", "__partition"
_CHANGE: Final = "__change"
_OURS: Final = (_VALUE, _KEY, _RAW_VALUE, _RAW_KEY, _CORRUPT, _BAD, _POSITION, _PARTITION, _CHANGE)

_BYTES: Final = ("avro", "avro-confluent", "protobuf")
# Debezium's codes: created, read by a snapshot, updated; of which upsert topics know the last.
_UPDATE: Final = "u"
_PUT: Final = ("c", "r", _UPDATE)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a source's columns lie in its messages.

    Args:
        scan: the source.
        keys: columns of the key, with their names there.
        value: names of the columns of the value.
    """

    scan: job.Scan
    keys: Mapping[str, str]
    value: tuple[str, ...]

    @property
    def types(self) -> dict[str, str]:
        """The types of the columns, as they are declared."""
        return {column.name: column.type for column in self.scan.declared or self.scan.columns}

    @property
    def changes(self) -> bool:
        """Whether a message is a change of its key's row."""
        return OPERATION in self.scan.metadata.values()

    @property
    def debezium(self) -> bool:
        """Whether a message has the row before the change and the one after it."""
        return file_format(self.scan.options) == "debezium-json"


def read_messages(messages: DataFrame, scan: job.Scan) -> DataFrame:
    """Messages taken apart once, whatever is read of them afterwards.

    Spark would put a parse of its own below each filter over a parsed column; the partition's number, which
    it takes for not deterministic, keeps every filter above this one parse.

    Args:
        messages: the columns of Spark's Kafka source, `headers` among them.
        scan: its declared columns are those of key and value, its `columns` those that are wanted.

    Returns:
        The wanted columns, metadata with the connector's types; the marks of bad records, if they are asked
        for; and the order of arrival, if it is.
    """
    declared = [c.name for c in scan.declared or scan.columns if c.name not in scan.metadata]
    layout = _Layout(scan, key_fields(scan.options), tuple(value_fields(scan.options, declared)))
    if not (layout.changes and not layout.debezium):
        # A message without a value is a deletion in a compacted topic, and holds no row.
        messages = messages.where(F.col("value").isNotNull())
    parsed = messages.select(*_parts(layout), *_beside(scan)).where(f"{_PARTITION} >= 0")
    parsed = parsed.withColumn(_BAD, _bad(layout))
    if layout.debezium:
        parsed = parsed.withColumn(_CHANGE, F.explode(_changes(layout)))
    columns = [_column(layout, column.name).alias(column.name) for column in scan.columns]
    hidden = [F.col(name) for name in parsed.columns if name not in (*_OURS, *scan.metadata)]
    if scan.marks is not None:
        raw, place = scan.marks
        return parsed.select(*columns, F.col(_BAD).alias(raw), F.col(_POSITION).alias(place), *hidden)
    what = F.concat(
        F.lit(f"{BAD_RECORD_MARKER} source={scan.source} position="), _POSITION, F.lit(" "), F.col(_BAD)
    )
    fine = F.when(F.col(_BAD).isNull(), F.lit(True)).otherwise(F.raise_error(what).cast("boolean"))
    return parsed.where(fine).select(*columns, *hidden)


def _parts(layout: _Layout) -> list[Column]:
    """Key and value, parsed and as they came, and where the message stood."""
    options = layout.scan.options
    types = layout.types
    value, form = F.col("value"), file_format(options)
    position = F.concat_ws("/", "topic", F.col("partition").cast("string"), F.col("offset").cast("string"))
    parts = [
        _parse(value, {name: types[name] for name in layout.value}, form, layout.scan, "value").alias(_VALUE),
        _text(value, form).alias(_RAW_VALUE),
        position.alias(_POSITION),
        F.spark_partition_id().alias(_PARTITION),
    ]
    if layout.keys:
        key, form = F.col("key"), key_format(options)
        fields = {name: types[column] for column, name in layout.keys.items()}
        parts += [
            _parse(key, fields, form, layout.scan, "key").alias(_KEY),
            _text(key, form).alias(_RAW_KEY),
        ]
    return parts


def _beside(scan: job.Scan) -> list[Column]:
    """Metadata, and the order of arrival."""
    known = [METADATA[key]().alias(name) for name, key in scan.metadata.items() if key != OPERATION]
    if scan.sequence:
        known.append(sequence(F.lit(0), F.col("topic"), F.col("partition"), F.col("offset")))
    return known


def _parse(data: Column, fields: Mapping[str, str], form: str, scan: job.Scan, part: str) -> Column:
    """The `key` or the `value` as a struct, with the text in `_CORRUPT` if a text cannot be read."""
    if form == "avro":
        return read_avro(data, str(scan.options["avro.schema" if part == "value" else "key.avro.schema"]))
    if form == "avro-confluent":
        schemas = schemas_of(scan.options, part)
        for number, schema in schemas.items():
            check_record(schema, f"schema {number} of subject `{subject_of(scan.options, part)}`")
        return read_registered(data, schemas, fields, scan.source)
    if form == "protobuf":
        # Imported by those alone who use it.
        from runtime.connectors.kafka.protobuf import read_protobuf

        return read_protobuf(data, scan.options, part, fields)
    if form == "raw":
        ((name, type_),) = fields.items()
        return F.when(data.isNotNull(), F.struct(data.cast(type_).alias(name)))
    options = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": _CORRUPT,
        **spark_options({**scan.options, "format": form}),
    }
    row = ", ".join(f"{quote(name)} {type_}" for name, type_ in fields.items())
    if form == "debezium-json":
        row = f"before STRUCT<{row}>, after STRUCT<{row}>, op STRING"
        if scan.options.get("debezium-json.schema-include", False):
            row = f"payload STRUCT<{row}>"
    schema, text = f"{row}, {_CORRUPT} STRING", data.cast("string")
    return F.from_csv(text, schema, options) if form == "csv" else F.from_json(text, schema, options)


def _text(data: Column, form: str) -> Column:
    """What is shown of a key or a value that cannot be read; bytes that are no text in base 64."""
    # Spark breaks base 64 into lines.
    return F.replace(F.base64(data), F.lit("\r\n"), F.lit("")) if form in _BYTES else data.cast("string")


def _bad(layout: _Layout) -> Column:
    """The text of a message that cannot be read, or NULL."""
    options = layout.scan.options
    values = {name: name for name in layout.value}
    broken = _broken(layout, _VALUE, _RAW_VALUE, file_format(options), values)
    bad = F.when(broken, F.col(_RAW_VALUE))
    if layout.debezium:
        bad = F.coalesce(bad, F.when(~_is_change(_envelope(layout)), F.col(_RAW_VALUE)))
    if layout.keys:
        broken = _broken(layout, _KEY, _RAW_KEY, key_format(options), layout.keys)
        bad = F.coalesce(bad, F.when(broken, F.col(_RAW_KEY)))
        if layout.changes and not layout.debezium:
            bad = F.coalesce(bad, F.when(F.col(_RAW_KEY).isNull(), F.lit("a message without a key")))
    return bad


def _broken(layout: _Layout, record: str, raw: str, form: str, named: Mapping[str, str]) -> Column:
    if form == "raw":
        return F.lit(False)
    parsed = F.col(record)
    if form in _BYTES:
        # Avro's smallest number is an INT.
        small = {name: layout.types[name] for name in named if layout.types[name] in ("TINYINT", "SMALLINT")}
        lost = [fitted(parsed.getField(named[name]), type_)[1] for name, type_ in small.items()]
        return F.col(raw).isNotNull() & reduce(or_, lost, is_broken(parsed))
    broken = parsed.isNull() | parsed.getField(_CORRUPT).isNotNull()
    if form != "csv":
        # An array of records would lose all but the first one.
        broken |= F.ltrim(F.col(raw)).startswith("[")
    return F.col(raw).isNotNull() & broken


def _column(layout: _Layout, name: str) -> Column:
    """A column of the row that a message holds."""
    key = layout.scan.metadata.get(name)
    deleted = F.col(_RAW_VALUE).isNull()
    if key == OPERATION:
        if layout.debezium:
            return F.col(_CHANGE).getField("op")
        return F.when(deleted, F.lit(DELETION)).otherwise(F.lit(_UPDATE))
    if key is not None:
        return F.col(quote(name))
    if layout.debezium and name in layout.value:
        return F.col(_CHANGE).getField("row").getField(name)
    if name not in layout.value:
        return _field(layout, name, F.col(_KEY), layout.keys[name])
    value = _field(layout, name, F.col(_VALUE), name)
    if name in layout.keys and layout.changes:
        return F.when(deleted, _field(layout, name, F.col(_KEY), layout.keys[name])).otherwise(value)
    return value


def _field(layout: _Layout, column: str, record: Column, name: str) -> Column:
    """A field of a key or a value; what Avro holds in another type gets the declared one."""
    declared = next(c.type for c in layout.scan.columns if c.name == column)
    return fitted(record.getField(name), declared)[0]


# --- Debezium's envelope


def _envelope(layout: _Layout) -> Column:
    value = F.col(_VALUE)
    wrapped = layout.scan.options.get("debezium-json.schema-include", False)
    return value.getField("payload") if wrapped else value


def _is_change(envelope: Column) -> Column:
    """Whether an envelope has an operation that is known, and the row that belongs to it."""
    op = envelope.getField("op")
    there = op.isin(*_PUT) & envelope.getField("after").isNotNull()
    gone = (op == DELETION) & envelope.getField("before").isNotNull()
    return F.coalesce(there | gone, F.lit(False))


def _changes(layout: _Layout) -> Column:
    """The changes of a message: one, or two if an update gave the row another key."""
    envelope = _envelope(layout)
    op, before, after = (envelope.getField(name) for name in ("op", "before", "after"))
    row = F.when(op == DELETION, before).otherwise(after)
    change = F.struct(op.alias("op"), row.alias("row"))
    keys = [name for name in layout.scan.key if name in layout.value]
    if not keys:
        return F.array(change)
    moved = reduce(or_, (~before.getField(k).eqNullSafe(after.getField(k)) for k in keys))
    gone = F.struct(F.lit(DELETION).alias("op"), before.alias("row"))
    both = (op == _UPDATE) & before.isNotNull() & moved
    return F.when(both, F.array(gone, change)).otherwise(F.array(change))


# --- beside key and value


def _headers() -> Column:
    """Kafka's list of headers as a map: of several with one key the last counts, as in Flink."""
    headers = F.coalesce(
        F.col("headers"), F.expr("CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)")
    )
    keys = F.array_distinct(F.transform(headers, lambda header: header["key"]))

    def last(key: Column) -> Column:
        return F.element_at(F.filter(headers, lambda header: header["key"] == key), -1)["value"]

    return F.map_from_arrays(keys, F.transform(keys, last))


METADATA: Final = {
    "topic": lambda: F.col("topic"),
    "partition": lambda: F.col("partition"),
    "offset": lambda: F.col("offset"),
    "timestamp": lambda: F.col("timestamp"),
    "timestamp-type": lambda: F.element_at(
        F.array(F.lit("NoTimestampType"), F.lit("CreateTime"), F.lit("LogAppendTime")),
        F.col("timestampType") + 2,
    ),
    "key": lambda: F.col("key"),
    "headers": _headers,
}
"""What Spark knows of a message beside its value, under Flink's keys."""
