"""Topics of Kafka, by Spark's own source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.formats import client_options, file_format, spark_options
from compiler.jobplan.model import Scan
from runtime.connectors.sources.arrival import sequence
from runtime.connectors.sources.base import schema_of
from runtime.spark.context import Context, quote

# What the failure mapper looks for.
BAD_RECORD_MARKER: Final = "[headrace:bad_record]"

_OFFSET: Final = re.compile(r"partition:(\d+)\s*,\s*offset:(\d+)")
# Columns of ours, before the record is taken apart.
_RECORD, _CORRUPT, _BAD, _POSITION = "__record", "__corrupt", "__bad", "__position"


class KafkaSource:
    """Offsets are kept by Spark in the checkpoint, and a replayed epoch reads the same ones."""

    def check(self, scan: Scan, project_dir: Path) -> list[Diagnostic]:
        """Nothing can be seen without a client: what is wrong with the broker ends the query."""
        return []

    def check_log(self, scan: Scan, log: Path, in_flight: bool) -> list[Diagnostic]:
        """Records that are gone are Kafka's to tell: `on_data_loss`."""
        return []

    def read(self, scan: Scan, ctx: Context) -> DataFrame:
        """The declared columns of each record; one that cannot be read fails the epoch, or is marked."""
        options = scan.options
        reader = (
            ctx.session.readStream.name(scan.read_name)
            .format("kafka")
            # Kafka's own default would show what an aborted transaction has written.
            .options(**{"kafka.isolation.level": "read_committed", **client_options(options)})
            .option("subscribe", str(options["topic"]).replace(";", ","))
            .options(**_start(scan))
            .option("failOnDataLoss", str(options.get("on_data_loss", "fail") == "fail").lower())
            .option("includeHeaders", "true")
        )
        if "max_records_per_epoch" in options:
            reader = reader.option("maxOffsetsPerTrigger", str(options["max_records_per_epoch"]))
        return _parsed(reader.load(), scan)


def _start(scan: Scan) -> dict[str, str]:
    """Where a query begins that has no checkpoint yet."""
    mode = str(scan.options.get("scan.startup.mode", "earliest")).removesuffix("-offset")
    if mode == "timestamp":
        # A partition without a record of that time or later begins at its end.
        return {
            "startingTimestamp": str(scan.options["scan.startup.timestamp-millis"]),
            "startingOffsetsByTimestampStrategy": "latest",
        }
    if mode == "specific-offsets":
        found = _OFFSET.findall(str(scan.options["scan.startup.specific-offsets"]))
        offsets = {str(scan.options["topic"]): {partition: int(offset) for partition, offset in found}}
        return {"startingOffsets": json.dumps(offsets)}
    return {"startingOffsets": mode}


def _parsed(messages: DataFrame, scan: Scan) -> DataFrame:
    """Records taken apart once, whatever is read of them afterwards.

    Spark would put a parse of its own below each filter over a parsed column; the partition's number, which
    it takes for not deterministic, keeps every filter above this one parse.
    """
    position = F.concat_ws("/", "topic", F.col("partition").cast("string"), F.col("offset").cast("string"))
    more = [
        *(METADATA[key]().alias(name) for name, key in scan.metadata.items()),
        *([sequence(F.lit(0), F.col("topic"), F.col("partition"), F.col("offset"))] if scan.sequence else ()),
    ]
    # A record without a value is a deletion in a compacted topic, and holds no row.
    messages = messages.where(F.col("value").isNotNull())
    if file_format(scan.options) == "raw":
        column = scan.record[0]
        return messages.select(F.col("value").cast(column.type).alias(column.name), *more)
    text = F.col("value").cast("string")
    rows = messages.select(
        _parse(text, scan).alias(_RECORD),
        text.alias(_CORRUPT),
        position.alias(_POSITION),
        F.spark_partition_id().alias("__partition"),
        *more,
    ).where("__partition >= 0")
    record = F.col(_RECORD)
    # An array of records would lose all but the first one.
    broken = record.isNull() | record.getField(_CORRUPT).isNotNull()
    if file_format(scan.options) == "json":
        broken |= F.ltrim(F.col(_CORRUPT)).startswith("[")
    names = [*(c.name for c in scan.record), *scan.metadata]
    rows = rows.withColumn(_BAD, F.when(broken, F.col(_CORRUPT)))
    hidden = [F.col(name) for name in rows.columns[4:-1] if name not in scan.metadata]
    columns = [
        F.col(quote(name)) if name in scan.metadata else record.getField(name).alias(name) for name in names
    ]
    if scan.marks is not None:
        raw, place = scan.marks
        return rows.select(*columns, F.col(_BAD).alias(raw), F.col(_POSITION).alias(place), *hidden)
    what = F.concat(
        F.lit(f"{BAD_RECORD_MARKER} source={scan.uid} position="), _POSITION, F.lit(" "), F.col(_BAD)
    )
    fine = F.when(F.col(_BAD).isNull(), F.lit(True)).otherwise(F.raise_error(what).cast("boolean"))
    return rows.where(fine).select(*columns, *hidden)


def _parse(text: Column, scan: Scan) -> Column:
    schema = f"{schema_of(scan)}, {_CORRUPT} STRING"
    options = {
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": _CORRUPT,
        **spark_options(scan.options),
    }
    if file_format(scan.options) == "csv":
        return F.from_csv(text, schema, options)
    return F.from_json(text, schema, options)


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
