"""Brings headrace's own Python code to the executors of a cluster.

What tasks call is pickled by reference: a worker has to import the module. On a cluster it has what is
installed on its machine, and that need not be headrace, nor this version of it. So all of it goes there as
one archive, ahead of whatever is installed. What others wrote (PySpark's own needs, and what connectors use)
has to be installed: wheels with compiled code cannot be imported from an archive.

The files of a project's functions/ need nothing of this: they travel inside of what is pickled (`Bundle`).
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.spark.cache import cache_dir
from runtime.spark.cluster import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Functions of users import `headrace`.
_TOP_LEVEL = ("compiler", "headrace", "runtime")


def ship(spark: SparkSession) -> None:
    """Give a session's executors headrace's code, unless they are threads of the driver."""
    context = spark.sparkContext
    if is_local(str(context.master)):
        return
    file = archive()
    context.addPyFile(str(file))
    # Spark asks an operator with state for its variables in a worker on the driver's machine, which gets no
    # files. On others the folder is not there, and Python passes over it.
    there = context.environment.get("PYTHONPATH")
    context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(file), there)))


def archive() -> Path:
    """Return headrace's Python files as one archive in the user's cache, made if it is not there.

    It is named by its content, so it is made once for a version, and an archive that a session has given out
    never changes.
    """
    files = _files()
    digest = hashlib.sha256()
    for name, data in files:
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    path = cache_dir() / "code" / f"headrace-{digest.hexdigest()[:16]}.zip"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two runs may do so at once; a rename shows each of them a whole file.
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as temporary:
            temporary.write(_zipped(files))
        Path(temporary.name).replace(path)
    return path


def _files() -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for top in _TOP_LEVEL:
        spec = find_spec(top)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        paths = origin.parent.rglob("*.py") if spec.submodule_search_locations else [origin]
        root = origin.parents[1] if spec.submodule_search_locations else origin.parent
        found += [(path.relative_to(root).as_posix(), path.read_bytes()) for path in paths]
    return sorted(found)


def _zipped(files: list[tuple[str, bytes]]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        for name, data in files:
            # A ZipInfo has always the same time, where a file would bring that of its last change.
            made.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
