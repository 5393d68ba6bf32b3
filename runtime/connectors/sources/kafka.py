"""Topics of Kafka, by Spark's own source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.formats import client_options
from compiler.jobplan.model import Scan
from runtime.connectors.kafka.records import read_messages
from runtime.spark.context import Context

_OFFSET: Final = re.compile(r"partition:(\d+)\s*,\s*offset:(\d+)")


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
        return read_messages(reader.load(), scan)


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
