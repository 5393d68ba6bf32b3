"""CPU of headrace beside other ways to run the same models, on the same rows, in one run.

    python -m bench.chaining                        # 1,000,000 rows
    python -m bench.chaining --rows 200000 --only W2,W4 --systems per-sink,headrace
    python -m bench.chaining --flink PYTHON,JARS    # Flink SQL too: a Python with apache-flink, and its jars

The workloads are in `workloads.py`. Systems: `per-model` is a query for each model with files between;
`per-sink` a query for each sink, the best that people write; `views` and `tables` are Spark Declarative
Pipelines with temporary views and with streaming tables (they need `pip install 'pyspark[pipelines]'`, and
are left out without). Each run is a process of its own; the rows of each sink are compared with DuckDB's.

CPU is user and system time of the process with all that it starts. Each variant also runs on a few rows in as
many files and epochs; `CPU s` is without what that takes, which is start-up and the cost of an epoch. Ends
with exit code 1 if a limit is broken.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.chaining.data import lay_out
from bench.chaining.oracle import Summary, differences, expected, found
from bench.chaining.project import write_project
from bench.chaining.workloads import WORKLOADS
from bench.common import CommandFailed, Usage, headrace, measure

FILES_AN_EPOCH = 3
FEW_ROWS = 2_000

LIMITS = {"W2": 1.5, "W4": 2.5, "W5": 2.0}
"""How many times less CPU than `per-sink` headrace must take."""

Run = Callable[[str, Path, Path], Usage]


def systems(flink: str | None) -> dict[str, Run]:
    """What can be run here, by name."""

    def module(name: str, first: str, python: str = sys.executable) -> Run:
        root = str(Path(__file__).resolve().parents[2])

        def run(workload: str, data: Path, out: Path) -> Usage:
            out.mkdir()
            command = [python, "-m", f"bench.chaining.{name}", first, workload, str(data), str(out)]
            return measure([*command, str(FILES_AN_EPOCH)], environment={"PYTHONPATH": root, "TZ": "UTC"})

        return run

    def ours(workload: str, data: Path, out: Path) -> Usage:
        write_project(out / "project", WORKLOADS[workload], data, FILES_AN_EPOCH)
        used = measure([headrace(), "run", "--project-dir", str(out / "project")])
        for sink in WORKLOADS[workload].sinks:
            (out / sink.name).symlink_to(out / "project" / "out" / sink.name)
        return used

    made: dict[str, Run] = {"per-model": module("by_hand", "per-model")}
    made["per-sink"] = module("by_hand", "per-sink")
    if importlib.util.find_spec("grpc") is not None:
        made |= {mode: module("declarative", mode) for mode in ("views", "tables")}
    else:
        print("Spark Declarative Pipelines are left out: pip install 'pyspark[pipelines]'")
    if flink is not None:
        python, _, jars = flink.partition(",")
        made["flink"] = module("flink", jars, python)
    else:
        print("Flink is left out: --flink PYTHON,JARS")
    made["headrace"] = ours
    return made


class Bench:
    """Runs and what they took.

    Args:
        folder: scratch.
        data: folders of rows by their name, `few` and `all`.
    """

    def __init__(self, folder: Path, data: dict[str, Path], names: list[str]) -> None:
        self.folder, self.data = folder, data
        self.cpu: dict[tuple[str, str, str], list[float]] = {}
        self.wall: dict[tuple[str, str], list[float]] = {}
        self.want: dict[tuple[str, str], dict[str, Summary]] = {
            (size, name): expected(WORKLOADS[name], path) for size, path in data.items() for name in names
        }

    def run(self, system: str, run: Run, workload: str, size: str) -> None:
        """One run; its rows must be right."""
        out = self.folder / f"{system}-{workload}-{size}"
        try:
            used = run(workload, self.data[size], out)
            wrong = differences(self.want[size, workload], found(WORKLOADS[workload], out))
        except CommandFailed as error:
            raise SystemExit(f"{system} {workload} failed: {error}") from error
        if wrong:
            raise SystemExit(f"{system} {workload} wrote other rows:\n" + "\n".join(wrong))
        shutil.rmtree(out)
        self.cpu.setdefault((system, workload, size), []).append(used.cpu)
        if size == "all":
            self.wall.setdefault((system, workload), []).append(used.wall)
        print(
            f"{workload} {system:<10} {size:<4} cpu {used.cpu:7.2f} s   wall {used.wall:7.2f} s", flush=True
        )

    def fixed(self, system: str, workload: str) -> float:
        """CPU seconds of a run on few rows."""
        return median(self.cpu[system, workload, "few"])

    def rest(self, system: str, workload: str) -> float:
        """CPU seconds of the rows alone."""
        return median(self.cpu[system, workload, "all"]) - self.fixed(system, workload)


def main() -> int:
    """Prints each run and a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1, help="runs of each variant (1)")
    parser.add_argument("--only", default=",".join(WORKLOADS), help="workloads, separated by commas")
    parser.add_argument("--systems", default="", help="systems, separated by commas (all that are there)")
    parser.add_argument("--flink", metavar="PYTHON,JARS", help="a Python with apache-flink, its jars")
    parser.add_argument("--json", type=Path, help="write all figures here too")
    given = parser.parse_args()
    known = systems(given.flink)
    chosen = {name: known[name] for name in given.systems.split(",") if name} or known
    workloads = given.only.split(",")
    with tempfile.TemporaryDirectory() as name:
        data = {"few": Path(name) / "few", "all": Path(name) / "all"}
        lay_out(data["few"], FEW_ROWS)
        lay_out(data["all"], given.rows)
        bench = Bench(Path(name), data, workloads)
        for number in range(given.rounds):
            for workload in workloads:
                # Turns, so that a machine that gets slower hits all alike.
                for system in chosen if number % 2 == 0 else reversed(chosen):
                    for size in data:
                        bench.run(system, chosen[system], workload, size)
    if given.json is not None:
        figures = {" ".join(key): values for key, values in bench.cpu.items()}
        given.json.write_text(json.dumps({"rows": given.rows, "cpu": figures}, indent=1), encoding="utf-8")
    return _table(bench, list(chosen), workloads)


def _table(bench: Bench, names: list[str], workloads: list[str]) -> int:
    broken = 0
    print("\n| workload | system | fixed CPU s | CPU s | wall s | headrace takes less by |")
    print("|---|---|---|---|---|---|")
    for workload in workloads:
        for system in names:
            ratio = ""
            if "headrace" in names and system != "headrace":
                times = bench.rest(system, workload) / bench.rest("headrace", workload)
                limit = LIMITS.get(workload) if system == "per-sink" else None
                under = limit is not None and times < limit
                broken += under
                ratio = f"{times:.2f}x{f' (limit {limit}x, NOT REACHED)' if under else ''}"
            print(
                f"| {workload} | {system} | {bench.fixed(system, workload):.1f} | "
                f"{bench.rest(system, workload):.1f} | {median(bench.wall[system, workload]):.1f} | {ratio} |"
            )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
