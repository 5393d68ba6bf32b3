"""Files in a folder, or those that a glob matches, each read once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.diagnostics.codes import CHANGED_FILE, MISSING_PATH
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.formats import file_format, spark_options
from compiler.jobplan.model import Scan
from runtime.connectors import paths
from runtime.connectors.sources.arrival import row_of_task
from runtime.connectors.sources.base import Reread, schema_of
from runtime.connectors.sources.file_metadata import file_metadata, file_of
from runtime.spark.changes import sequence
from runtime.spark.context import Context, quote

_FOREVER = "36500d"


class FilesystemSource:
    """Spark's file source, set so that it fails rather than loses rows."""

    def check(self, scan: Scan, project_dir: Path) -> list[Diagnostic]:
        """A folder or file that is not there; a glob may match nothing yet."""
        path = str(scan.options["path"])
        if paths.is_url(path) or paths.local(path, project_dir).exists() or paths.is_glob(path):
            return []
        return [
            Diagnostic(
                MISSING_PATH,
                f"path '{path}' of source {scan.source} does not exist",
                cause=f"it was looked for at {paths.local(path, project_dir)}",
                fix="create it, correct the option 'path', or use a glob if the file is yet to come",
            )
        ]

    def check_log(self, scan: Scan, log: Path, done: str | None) -> list[Diagnostic]:
        """Files that are yet to be read and that are gone, and files that changed after they were read.

        Spark 4.2 lists files for an epoch before the epoch has begun, and drops one that is missing later
        without a word; and it knows files by their paths, so that it never looks again at one that it has
        read.
        """
        entries, last = _entries(log), _entry_of(done)
        gone = sorted(_gone(entries, last))
        if gone:
            more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
            return [
                Diagnostic(
                    MISSING_PATH,
                    f"{gone[0]}{more} of source {scan.source} is gone, which an unfinished epoch has to read",
                    cause="a run was cut off after it had found the file; a sink may hold its rows already, "
                    "and without it the others would never get them",
                    fix="bring the file back; to leave its rows out, put a file without rows in its place",
                )
            ]
        changed = sorted(_changed(entries, last))
        if not changed:
            return []
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return [
            Diagnostic(
                CHANGED_FILE,
                f"{changed[0]}{more} of source {scan.source} changed after it was read",
                cause="a file is read once; rows that were added or changed since are not seen",
                fix="write new rows into new files; to read all files anew, run with --full-refresh",
            )
        ]

    def read(self, scan: Scan, ctx: Context) -> DataFrame:
        """The declared schema rules; what does not fit it fails the epoch, or is marked."""
        # Files older than the newest by more than this are skipped without a word (7 days).
        options = {"maxFileAge": _FOREVER}
        if "max_files_per_epoch" in scan.options:
            options["maxFilesPerTrigger"] = str(scan.options["max_files_per_epoch"])
        reader = (
            ctx.session.readStream.name(scan.read_name)
            .format(file_format(scan.options))
            .schema(_schema(scan))
            .options(**options, **_options(scan))
        )
        return _columns(reader.load(_location(str(scan.options["path"]), ctx.project_dir)), scan)

    def reread(self, scan: Scan, ctx: Context, epoch: Reread) -> DataFrame | None:
        """The files that the source's log has for the epoch."""
        first = json.loads(epoch.before)["logOffset"] + 1 if epoch.before is not None else 0
        uris = _read_between(epoch.log, first, json.loads(epoch.after)["logOffset"])
        if not uris:
            return None
        reader = ctx.session.read.format(file_format(scan.options)).schema(_schema(scan))
        folder = str(scan.options["path"])
        if not paths.is_url(folder) and paths.local(folder, ctx.project_dir).is_dir():
            # So that folders named `column=value` are columns, as the stream finds them.
            reader = reader.option("basePath", str(paths.local(folder, ctx.project_dir)))
        found = reader.options(**_options(scan)).load(
            [paths.literal(_local(uri) or unquote(uri)) for uri in uris]
        )
        return _columns(found, scan)


def _schema(scan: Scan) -> str:
    schema = schema_of(scan)
    return f"{schema}, {quote(scan.marks[0])} STRING" if scan.marks is not None else schema


def _options(scan: Scan) -> dict[str, Any]:
    """Options of a reader, be it of a stream or not."""
    marks = (
        {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": scan.marks[0]} if scan.marks is not None else {}
    )
    return {
        "mode": "FAILFAST",
        # Both are session settings too: whoever turns them on there must not lose rows here.
        "ignoreMissingFiles": "false",
        "ignoreCorruptFiles": "false",
        # A file with another header than the declared columns is an error, not other columns' values.
        "enforceSchema": "false",
        **marks,
        **spark_options(scan.options),
    }


def _columns(rows: DataFrame, scan: Scan) -> DataFrame:
    """What the reader gives, with the metadata, marks and order that are asked for."""
    if scan.marks is not None:
        return _marked(rows, scan, scan.marks[1])
    more = [*(file_metadata(rows, scan) if scan.metadata else ()), *_arrival(rows, scan)]
    return rows.select("*", *more) if more else rows


def _marked(rows: DataFrame, scan: Scan, position: str) -> DataFrame:
    """The rows with the file of each as its position.

    Spark parses only the columns that are asked for, and would find a record good if its bad column is not
    among them; so all are asked for, through a struct that no pruning reaches into. The partition's number
    keeps Spark from putting the parts together.
    """
    columns = [F.col(quote(name)) for name in rows.columns]
    place = file_of(rows).getField("file_path").alias(position)
    whole = F.struct(*columns, *file_metadata(rows, scan), place, *_arrival(rows, scan)).alias("__record")
    barrier = rows.select(whole, F.spark_partition_id().alias("__partition")).where("__partition >= 0")
    return barrier.select("__record.*")


def _arrival(rows: DataFrame, scan: Scan) -> list[Column]:
    """The order of the rows, if it is asked for.

    Files by their time, then by their path; in a file its parts, and in each the lines as they are read.

    A task reads a part from its begin to its end.
    """
    if not scan.sequence:
        return []
    file = file_of(rows)
    return [
        sequence(
            F.unix_micros(file["file_modification_time"]),
            file["file_path"],
            file["file_block_start"],
            row_of_task(),
        )
    ]


def _entries(log: Path) -> dict[str, tuple[int, int]]:
    """What the source has read: the file's time (ms) and the number of the log's entry, by URI."""
    entries: dict[str, tuple[int, int]] = {}
    for file in log.iterdir() if log.is_dir() else ():
        if file.name.removesuffix(".compact").isdigit():
            for line in file.read_text().splitlines():
                if line.startswith("{"):
                    entry = json.loads(line)
                    entries[entry["path"]] = (entry["timestamp"], entry["batchId"])
    return entries


def _read_between(log: Path, first: int, last: int) -> list[str]:
    """The files of some entries of the log, by URI; an entry may have gone into a later, compact one."""
    compact = sorted(int(file.name.removesuffix(".compact")) for file in log.glob("*.compact"))
    found: dict[str, None] = {}
    for number in range(first, last + 1):
        file = log / str(number)
        if not file.exists():
            file = log / f"{next((n for n in compact if n >= number), number)}.compact"
        for line in file.read_text().splitlines():
            if line.startswith("{") and json.loads(line)["batchId"] == number:
                found[json.loads(line)["path"]] = None
    return list(found)


def _entry_of(offset: str | None) -> int:
    """The last entry of the log that an offset takes in."""
    found = json.loads(offset) if offset is not None else None
    return int(found.get("logOffset", -1)) if isinstance(found, dict) else -1


def _gone(entries: dict[str, tuple[int, int]], last: int) -> set[str]:
    """Local files of the entries behind one that do not exist."""
    return {
        path
        for uri, (_, number) in entries.items()
        if number > last and (path := _local(uri)) and not Path(path).exists()
    }


def _changed(entries: dict[str, tuple[int, int]], last: int) -> set[str]:
    """Local files of the entries up to one that are not as they were when they were found."""
    return {
        path
        for uri, (read_at, number) in entries.items()
        if number <= last
        # A file that is gone has been read to its end; nothing is lost.
        if (path := _local(uri)) and (now := _modified(path)) is not None and now != read_at
    }


def _local(uri: str) -> str | None:
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else None


def _modified(path: str) -> int | None:
    try:
        return Path(path).stat().st_mtime_ns // 1_000_000
    except OSError:
        return None


def _location(path: str, project_dir: Path) -> str:
    if paths.is_url(path):
        return path
    local = paths.local(path, project_dir)
    if local.is_file():
        return paths.only_file(str(local))
    return paths.literal(str(local)) if local.exists() else str(local)
