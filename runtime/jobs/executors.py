"""What a run needs of the executors of a cluster, asked of them before it begins.

A folder that is not shared loses rows without a word: a task writes its files to the disk of its machine, and
the driver lists them in a log on another.
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from compiler.diagnostics.codes import EXECUTORS_LACK
from compiler.diagnostics.diagnostic import Diagnostic
from runtime.files import TEMPORARY
from runtime.jobs.failures import cause_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Executors take tasks as they are free: with more tasks than cores, each executor takes some.
_TASKS_A_CORE: Final = 3
_WHY: Final = "rows that a task writes there would be lost, and what a task cannot import ends its query"
_FIX: Final = "give all machines the same folders and packages: docs/cluster.md lists them"
_PYTHON_FIX: Final = "say with spark.pyspark.python of the target where Python is on all machines"


@dataclass(frozen=True)
class _Ask:
    """Runs in a task: says what its machine does not see.

    Args:
        paths: which the driver has just made, and those that are read.
        modules: which tasks will import.
    """

    paths: tuple[str, ...]
    modules: tuple[str, ...]

    def __call__(self, _task: Iterable[int]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        unseen = tuple(path for path in self.paths if not Path(path).exists())
        missing = tuple(module for module in self.modules if not _is_there(module))
        yield socket.gethostname(), unseen, missing


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # what it lies in
        return False


def check_executors(
    session: SparkSession, written: Iterable[Path], read: Iterable[Path], modules: Collection[str]
) -> list[Diagnostic]:
    """Ask the executors that there are; it takes a job.

    Args:
        session: the session that will run queries.
        written: folders that the run writes to; those that do not exist are asked for by the next one above.
        read: folders and files that it reads.
        modules: what tasks import beside headrace.

    Returns:
        A finding (HR612) for each thing that a machine lacks, or for an interpreter that does not start.
    """
    context = session.sparkContext
    probes = {probe: folder for folder in dict.fromkeys(written) if (probe := _put_probe(folder))}
    try:
        tasks = _TASKS_A_CORE * context.defaultParallelism
        ask = _Ask(tuple(map(str, (*probes, *dict.fromkeys(read)))), tuple(sorted(modules)))
        answers = context.parallelize(range(tasks), tasks).mapPartitions(ask).collect()
    except Exception as error:  # noqa: BLE001  # whatever a worker says is the finding
        return [
            Diagnostic(EXECUTORS_LACK, "executors cannot run Python", cause=cause_of(error), fix=_PYTHON_FIX)
        ]
    finally:
        for probe in probes:
            probe.unlink(missing_ok=True)
    return [found for answer in sorted(set(answers)) for found in _lacks(answer, probes)]


def _put_probe(folder: Path) -> Path | None:
    there = next(path for path in (folder, *folder.parents) if path.is_dir())
    probe = there / f"{TEMPORARY}{uuid.uuid4().hex}"
    # Where nothing can be written the run is refused in words of its own.
    with suppress(OSError):
        probe.touch(exist_ok=False)
        return probe
    return None


def _lacks(
    answer: tuple[str, tuple[str, ...], tuple[str, ...]], probes: Mapping[Path, Path]
) -> list[Diagnostic]:
    host, unseen, missing = answer
    lacks = [
        f"does not see what the driver writes into {probes[path]}"
        if path in probes
        else f"does not see {path}"
        for path in map(Path, unseen)
    ]
    lacks += [f"has no Python module {module}" for module in missing]
    return [
        Diagnostic(EXECUTORS_LACK, f"an executor on {host} {lack}", cause=_WHY, fix=_FIX) for lack in lacks
    ]
