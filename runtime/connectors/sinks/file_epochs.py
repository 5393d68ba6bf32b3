"""Epochs of files, written and listed as Spark's own file sink does it, and counted.

`FileStreamSink.addBatch` does not tell how many rows it wrote, and to observe them on their way takes a
twentieth of the CPU of a write. So this takes it apart: the same log, commit protocol and writer, with the
statistics that Spark's tasks keep anyway within reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from runtime.files import write_atomically

MANIFEST = "_spark_metadata"
_FORMATS = {
    "parquet": "parquet.ParquetFileFormat",
    "json": "json.JsonFileFormat",
    "csv": "csv.CSVFileFormat",
    "orc": "orc.OrcFileFormat",
}


class FileEpochs:
    """A folder with its log, for the epochs of one session.

    Args:
        session: the session of the epochs' rows.
        folder: where files go.
        name: of their format.
        options: Spark's, of the format.
        retention: milliseconds after which the log forgets a file when it is next compacted.
    """

    def __init__(
        self,
        session: SparkSession,
        folder: Path,
        name: str,
        options: Mapping[str, str],
        retention: int | None,
    ) -> None:
        jvm: Any = session._jvm  # Spark has no Python API for its file sink
        # Resolved once: each part of a name is a call.
        execution = jvm.org.apache.spark.sql.execution
        sources = execution.datasources
        self._session: Any = session._jsparkSession
        self._path = str(folder)
        self._commits = jvm.org.apache.spark.internal.io.FileCommitProtocol
        self._output, self._writer = getattr(sources, "FileFormatWriter$OutputSpec"), sources.FileFormatWriter
        self._statistics = sources.BasicWriteJobStatsTracker
        self._utils = jvm.PythonUtils
        self._none = jvm.scala.Option.empty()
        self._options = self._utils.toScalaMap(dict(options))
        package, _, kind = _FORMATS[name].partition(".")
        self._format = getattr(getattr(sources, package), kind)()
        self._hadoop = self._session.sessionState().newHadoopConf()
        self._shipped = jvm.org.apache.spark.util.SerializableConfiguration(self._hadoop)
        sinks = execution.streaming.sinks
        self._version = int(sinks.FileStreamSinkLog.VERSION())
        self._log = sinks.FileStreamSinkLog(
            self._version, self._session, str(folder / MANIFEST), self._milliseconds(jvm, retention)
        )
        gateway: Any = session.sparkContext._gateway
        self._no_files = gateway.new_array(sinks.SinkFileStatus, 0)

    def serves(self, session: SparkSession) -> bool:
        """Whether rows of this session can be written."""
        return bool(self._session.equals(session._jsparkSession))

    def write(self, epoch: int, rows: DataFrame, partition_by: Sequence[str]) -> int:
        """Writes an epoch that the log does not have, and lists its files in the log by one rename.

        Returns:
            The number of rows.
        """
        to_seq, to_map = self._utils.toSeq, self._utils.toScalaMap
        protocol = self._session.sessionState().conf().streamingFileCommitProtocolClass()
        committer = self._commits.instantiate(protocol, str(epoch), self._path, False)
        committer.setupManifestOptions(self._log, epoch)
        frame: Any = rows._jdf
        query = frame.queryExecution()
        columns = query.analyzed().output()
        places = [[name.casefold() for name in rows.columns].index(name.casefold()) for name in partition_by]
        counters = self._statistics.metrics()
        self._writer.write(
            self._session,
            query.executedPlan(),
            self._format,
            committer,
            self._output(self._path, to_map({}), columns),
            self._hadoop,
            to_seq([columns.apply(place) for place in places]),
            self._none,
            to_seq([self._statistics(self._shipped, counters)]),
            self._options,
            0,
        )
        return int(counters.apply("numOutputRows").value())

    def pass_over(self, written: int, done: int) -> None:
        """Lists no files for the epochs that the log lacks: Spark's readers want its entries without a gap.

        Args:
            written: the newest epoch that the log has, -1 if it is empty.
            done: the last epoch to pass over.
        """
        if written < 0:
            # Readers begin at the last entry that has all before it, which Spark makes of those.
            interval = int(self._log.compactInterval())
            written = (done + 1) // interval * interval - 1
            if written >= 0:
                write_atomically(Path(self._path, MANIFEST, f"{written}.compact"), f"v{self._version}")
        for epoch in range(written + 1, done + 1):
            self._log.add(epoch, self._no_files)

    def _milliseconds(self, jvm: Any, number: int | None) -> Any:
        if number is None:
            return self._none
        # A Python number becomes an Integer if it is small, and Spark wants a Long.
        return jvm.scala.jdk.javaapi.OptionConverters.toScala(jvm.java.util.OptionalLong.of(number))
