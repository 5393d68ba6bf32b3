"""Files in a folder, by Spark's own manifest protocol."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from compiler.diagnostics.codes import NOT_WRITABLE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.formats import file_format, spark_options
from compiler.jobplan.model import Sink
from runtime.connectors.sinks import ownership
from runtime.connectors.sinks.base import SinkContext, columns_of
from runtime.connectors.sinks.file_epochs import MANIFEST, FileEpochs
from runtime.spark.context import quote

_PART = re.compile(r"^part-\d{5,}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[.-]c\d{3,}\..+$")


class FilesystemWriter:
    """Appends files and lists them in a manifest, epoch by epoch.

    Spark's readers go by the manifest. For all others, files that a killed epoch left are deleted
    before anything is written: a glob then sees the same rows.
    """

    passes = 1

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self._ctx = ctx
        self.folder = ownership.output_folder(sink, ctx.project_dir)
        self.location = str(sink.options["path"])
        self.rows_written = 0
        self._epochs: FileEpochs | None = None

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Claims the folder, or refuses to; then deletes what a killed epoch left."""
        claim = ownership.Marker(self._ctx.project, self._sink.uid, incarnation)
        found = ownership.read_marker(self.folder)
        if found is None:
            if not ownership.is_empty(self.folder):
                raise ownership.foreign(self._sink.uid, self.folder, f"the folder has no {ownership.MARKER}")
        elif (found.project, found.sink) != (claim.project, claim.sink):
            owner = f"it belongs to sink {found.sink} of project {found.project}"
            raise ownership.foreign(self._sink.uid, self.folder, owner)
        written = _last_epoch(self.folder)
        if found is not None and found != claim and written >= 0:
            raise ownership.other_incarnation(self._sink.uid, self.folder)
        if written > last_epoch:
            raise ownership.newer_than_state(self._sink.uid, self.folder, written, last_epoch)
        done = self._ctx.last_committed
        if written < done and self._sink.uid in self._ctx.remembered:
            raise ownership.older_than_state(self._sink.uid, self.folder, written, done)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if found != claim:
                ownership.write_marker(self.folder, claim)
        except OSError as error:
            problem = f"sink {self._sink.uid} cannot write to {self.folder}"
            raise DiagnosticError(Diagnostic(NOT_WRITABLE, problem, cause=error.strerror)) from error
        self._delete_orphans()
        if written < done:
            # The sink came later than the state.
            self._files(self._ctx.session).pass_over(written, done)
            self._epochs = None

    def has(self, epoch: int) -> bool:
        """Whether the manifest lists the epoch."""
        return epoch <= _last_epoch(self.folder)

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Writes the epoch as Spark's file sink does, which commits it by one rename."""
        if self.has(epoch):
            return False
        rows = self._placed(columns_of(self._sink, batch))
        self.rows_written += self._files(batch.sparkSession).write(epoch, rows, self._sink.partition_by)
        return True

    def _files(self, session: SparkSession) -> FileEpochs:
        """Spark's side of the folder, kept as long as the session is the same."""
        if self._epochs is None or not self._epochs.serves(session):
            options = self._sink.options
            # Spark leaves older files out of the manifest when it next compacts it (every ten epochs).
            retention = int(options["retention"]) if "retention" in options else None
            name = file_format(options)
            self._epochs = FileEpochs(session, self.folder, name, spark_options(options), retention)
        return self._epochs

    def _placed(self, rows: DataFrame) -> DataFrame:
        """The rows in as few tasks as files are asked for; those of one folder then come together."""
        files = self._sink.options.get("files_per_epoch")
        if files is None:
            return rows
        return rows.repartition(int(files), *(F.col(quote(name)) for name in self._sink.partition_by))

    def check_empty(self) -> None:
        """The folder must be ours, or empty."""
        found = ownership.read_marker(self.folder)
        if found is None:
            if not ownership.is_empty(self.folder):
                raise ownership.foreign(self._sink.uid, self.folder, f"the folder has no {ownership.MARKER}")
        elif (found.project, found.sink) != (self._ctx.project, self._sink.uid):
            owner = f"it belongs to sink {found.sink} of project {found.project}"
            raise ownership.foreign(self._sink.uid, self.folder, owner)

    def empty(self) -> None:
        """Deletes the files by their names, the manifest and the marker; other files stay."""
        if ownership.read_marker(self.folder) is None:
            return
        for file in _part_files(self.folder):
            _delete(file, self.folder)
        shutil.rmtree(self.folder / MANIFEST, ignore_errors=True)
        (self.folder / ownership.MARKER).unlink()

    def _delete_orphans(self) -> None:
        listed = _listed(self.folder)
        for file in _part_files(self.folder):
            if file.name not in listed:
                _delete(file, self.folder)


def _last_epoch(folder: Path) -> int:
    manifest = folder / MANIFEST
    if not manifest.is_dir():
        return -1
    names = (entry.name.removesuffix(".compact") for entry in manifest.iterdir())
    return max((int(name) for name in names if name.isdigit()), default=-1)


def _listed(folder: Path) -> set[str]:
    """Names of the files that the manifest has. They hold a random id, so the name is enough.

    The newest compacted log has all before it, but for files that are no longer kept.
    """
    manifest = folder / MANIFEST
    if not manifest.is_dir():
        return set()
    logs = {int(stem): log for log in manifest.iterdir() if (stem := log.name.partition(".")[0]).isdigit()}
    compacted = max((number for number, log in logs.items() if log.suffix == ".compact"), default=-1)
    names: set[str] = set()
    for number, log in logs.items():
        if number >= compacted:
            for line in log.read_text().splitlines():
                if line.startswith("{"):
                    names.add(json.loads(line)["path"].rsplit("/", 1)[-1])
    return names


def _part_files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("part-*") if _PART.match(file.name) and file.is_file()]


def _delete(file: Path, root: Path) -> None:
    file.unlink()
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    # Folders of partitions that have become empty would still be partitions to a reader.
    for folder in file.parents:
        if folder == root or any(folder.iterdir()):
            break
        folder.rmdir()
