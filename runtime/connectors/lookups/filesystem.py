"""Files of a folder as a table."""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from compiler.diagnostics.codes import MISSING_PATH
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.formats import file_format, spark_options
from compiler.jobplan.model import LookupTable
from runtime.connectors import paths
from runtime.connectors.lookups.pins import Pins, folder_name, remove_but
from runtime.files import TEMPORARY
from runtime.spark.context import Context, ddl_of

_MOST_TRIES = 5


class FilesystemLookup:
    """Local files are copied when they are first seen, so that whoever writes over them changes no replay."""

    def read(self, table: LookupTable, ctx: Context) -> DataFrame:
        """All files under the path, as they were when the epoch began."""
        path = str(table.options["path"])
        schema = ddl_of(table.columns)
        reader = (
            ctx.session.read.schema(schema)
            .format(file_format(table.options))
            .options(mode="FAILFAST", enforceSchema="false", ignoreMissingFiles="false")
            .options(**spark_options(table.options))
        )
        if paths.is_url(path):
            return reader.load(path)
        assert ctx.query_folder is not None
        assert ctx.epoch is not None
        folder = ctx.query_folder / "lookups" / folder_name(table.uid)
        copies = folder / "files"
        pins = Pins(folder)
        files = pins.of(
            ctx.epoch, table.refresh_ms, lambda: _copied(_found(table, path, ctx.project_dir), copies)
        )
        remove_but(pins.parts(), copies)
        if not files:
            return ctx.session.createDataFrame([], schema)
        return reader.load([paths.literal(str(copies / name)) for name in files])


def _found(table: LookupTable, path: str, project_dir: Path) -> list[Path]:
    """The files that Spark would read."""
    local = paths.local(path, project_dir)
    if local.is_file():
        return [local]
    if local.is_dir():
        return _visible(local, sorted(local.rglob("*")))
    matches = [Path(match) for match in sorted(glob.glob(str(local)))] if paths.is_glob(path) else []
    if not matches and not paths.is_glob(path):
        raise DiagnosticError(
            Diagnostic(
                MISSING_PATH,
                f"path '{path}' of source {table.uid} does not exist",
                cause=f"it was looked for at {local}",
                fix="create it, or correct the option 'path'",
            )
        )
    return [
        file
        for match in matches
        for file in (_visible(match, sorted(match.rglob("*"))) if match.is_dir() else [match])
    ]


def _visible(folder: Path, files: list[Path]) -> list[Path]:
    return [
        file
        for file in files
        if file.is_file() and not any(part[0] in "._" for part in file.relative_to(folder).parts)
    ]


def _copied(files: list[Path], folder: Path) -> tuple[str, ...]:
    """Copies the files that are not there yet; their names say which content they have."""
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(_copy(file, folder) for file in files)


def _copy(file: Path, folder: Path) -> str:
    for _ in range(_MOST_TRIES):
        before = _state(file)
        # The suffixes stay: Spark tells by them how a file is compressed.
        digest = hashlib.sha256(f"{file}|{before}".encode()).hexdigest()[:24]
        name = f"{digest}{''.join(file.suffixes)}"
        if (folder / name).exists():
            return name
        temporary = folder / f"{TEMPORARY}{name}"
        shutil.copyfile(file, temporary)
        if _state(file) == before:
            temporary.rename(folder / name)
            return name
    raise OSError(f"{file} is written all the time, so it cannot be read")


def _state(file: Path) -> tuple[int, int, int]:
    found = os.stat(file)
    return found.st_size, found.st_mtime_ns, found.st_ino
