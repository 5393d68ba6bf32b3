"""What can run the workloads, each as a process of its own."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from bench.chaining.project import write_project
from bench.chaining.workloads import WORKLOADS
from bench.common import Usage, headrace, measure

FILES_AN_EPOCH = 3

Run = Callable[[str, Path, Path], Usage]
"""Runs a workload over a folder of rows; leaves each sink's Parquet under its name in a folder that it makes.

Raises:
    CommandFailed: the run ended with an error.
"""

_ROOT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = {"PYTHONPATH": str(_ROOT), "TZ": "UTC"}


def systems(pipelines: str | None, flink: str | None) -> dict[str, Run]:
    """What can be run here, by name; says what cannot.

    Args:
        pipelines: a Python with `pyspark[pipelines]`; else the one that runs this, if it has that.
        flink: a Python with apache-flink and a folder of its jars, with a comma between.
    """
    made = {mode: _module("by_hand", mode) for mode in ("per-model", "per-sink")}
    if pipelines is None and importlib.util.find_spec("grpc") is not None:
        pipelines = sys.executable
    if pipelines is not None:
        made |= {mode: _module("declarative", mode, pipelines) for mode in ("views", "tables")}
    else:
        print("Spark Declarative Pipelines are left out: --pipelines PYTHON", file=sys.stderr)
    if flink is not None:
        python, _, jars = flink.partition(",")
        made["flink"] = _module("flink", jars, python)
    else:
        print("Flink is left out: --flink PYTHON,JARS", file=sys.stderr)
    made["headrace"] = _headrace
    return made


def _module(name: str, first: str, python: str = sys.executable) -> Run:
    def run(workload: str, data: Path, out: Path) -> Usage:
        out.mkdir()
        command = [python, "-m", f"bench.chaining.{name}", first, workload, str(data), str(out)]
        return measure([*command, str(FILES_AN_EPOCH)], environment=_ENVIRONMENT)

    return run


def _headrace(workload: str, data: Path, out: Path) -> Usage:
    write_project(out / "project", WORKLOADS[workload], data, FILES_AN_EPOCH)
    used = measure([headrace(), "run", "--project-dir", str(out / "project")], environment=_ENVIRONMENT)
    for sink in WORKLOADS[workload].sinks:
        (out / sink.name).symlink_to(out / "project" / "out" / sink.name)
    return used
