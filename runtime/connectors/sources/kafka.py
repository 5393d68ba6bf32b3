"""Topics of Kafka, by Spark's own source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.model import Scan
from runtime.connectors.kafka.records import read_messages
from runtime.connectors.kafka.security import BadOption, bad_option, for_java
from runtime.connectors.sources.base import Reread
from runtime.spark.context import Context

# What Kafka's clients take for the first offset that there is.
_EARLIEST: Final = -2
_OFFSET: Final = re.compile(r"partition:(\d+)\s*,\s*offset:(\d+)")


class KafkaSource:
    """Offsets are kept by Spark in the checkpoint, and a replayed epoch reads the same ones."""

    def check(self, scan: Scan, project_dir: Path) -> list[Diagnostic]:
        """Options that Java's client would pass over; what is wrong with the broker ends the query."""
        try:
            for_java(scan.options)
        except BadOption as error:
            return [bad_option(f"source {scan.source}", error)]
        return []

    def check_log(self, scan: Scan, log: Path, done: str | None) -> list[Diagnostic]:
        """Records that are gone are Kafka's to tell: `on_data_loss`."""
        return []

    def read(self, scan: Scan, ctx: Context) -> DataFrame:
        """The declared columns of each record; one that cannot be read fails the epoch, or is marked."""
        reader = (
            ctx.session.readStream.name(scan.read_name)
            .format("kafka")
            .options(**_options(scan), **_start(scan))
            .option("subscribe", str(scan.options["topic"]).replace(";", ","))
        )
        if "max_records_per_epoch" in scan.options:
            reader = reader.option("maxOffsetsPerTrigger", str(scan.options["max_records_per_epoch"]))
        return read_messages(reader.load(), scan)

    def reread(self, scan: Scan, ctx: Context, epoch: Reread) -> DataFrame | None:
        """The records between the offsets of the epoch."""
        after = json.loads(epoch.after)
        before = json.loads(epoch.before if epoch.before is not None else _begun(epoch.log))
        # A partition that has come since is read from its beginning.
        first = {t: {p: before.get(t, {}).get(p, _EARLIEST) for p in offsets} for t, offsets in after.items()}
        if first == after:
            return None
        reader = (
            ctx.session.read.format("kafka")
            .options(**_options(scan))
            .option("assign", json.dumps({t: sorted(map(int, offsets)) for t, offsets in after.items()}))
            .option("startingOffsets", json.dumps(first))
            .option("endingOffsets", epoch.after)
        )
        return read_messages(reader.load(), scan)


def _options(scan: Scan) -> dict[str, Any]:
    """Options of a reader, be it of a stream or not."""
    return {
        # Kafka's own default would show what an aborted transaction has written.
        "kafka.isolation.level": "read_committed",
        **for_java(scan.options),
        "failOnDataLoss": str(scan.options.get("on_data_loss", "fail") == "fail").lower(),
        "includeHeaders": "true",
    }


def _begun(log: Path) -> str:
    """Where the query began, which Spark keeps in the first entry of the source's log."""
    return (log / "0").read_bytes().decode().rpartition("\n")[2]


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
