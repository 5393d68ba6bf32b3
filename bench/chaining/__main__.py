"""CPU of headrace beside other ways to run the same models, on the same rows, in one run.

    python -m bench.chaining                        # 2,000,000 rows
    python -m bench.chaining --pipelines PYTHON --flink PYTHON,JARS --rounds 3 --json figures.json
    python -m bench.chaining --rows 200000 --only W2,W4 --systems per-sink,headrace
    python -m bench.chaining --merge figures.json more.json

The workloads are in `workloads.py`, the limits in `report.py`. Systems: `per-model` is a query for each model
with files between; `per-sink` a query for each sink, the best that people write; `views` and `tables` are
Spark Declarative Pipelines with temporary views and with streaming tables; `flink` is Flink SQL. Each run is
a process of its own; the rows of each sink are compared with DuckDB's.

CPU is user and system time of the process with all that it starts. Each variant also runs on a few rows in as
many files and epochs; `CPU s` is without what that takes, which is start-up and the cost of an epoch. Ends
with exit code 1 if a limit is broken or a run failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from bench.chaining.data import lay_out
from bench.chaining.figures import Figures, Pair, read
from bench.chaining.oracle import differences, expected, found
from bench.chaining.report import judge, table
from bench.chaining.systems import Run, systems
from bench.chaining.workloads import WORKLOADS
from bench.common import CommandFailed, Usage
from runtime.spark.archive import ArchiveKey, ensure_archive
from runtime.spark.java import find_java

FEW_ROWS = 2_000


class Bench:
    """Runs that are compared with what DuckDB says.

    Args:
        folder: scratch.
        rows: how many, in the runs on all.
        names: workloads.
    """

    def __init__(self, folder: Path, rows: int, names: Iterable[str]) -> None:
        self._folder = folder
        self._data = {"few": folder / "few", "all": folder / "all"}
        lay_out(self._data["few"], FEW_ROWS)
        lay_out(self._data["all"], rows)
        self._want = {
            (name, size): expected(WORKLOADS[name], data)
            for name in names
            for size, data in self._data.items()
        }

    def pair(self, workload: str, system: str, run: Run) -> Pair:
        """A run on a few rows and one on all.

        Raises:
            CommandFailed: one of them failed, or wrote other rows.
        """
        few, all_ = (self._run(workload, system, run, size) for size in self._data)
        return Pair(workload, system, few, all_)

    def _run(self, workload: str, system: str, run: Run, size: str) -> Usage:
        out = self._folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        used = run(workload, self._data[size], out)
        if wrong := differences(self._want[workload, size], found(WORKLOADS[workload], out)):
            raise CommandFailed("It wrote other rows:\n" + "\n".join(wrong))
        print(
            f"{workload} {system:<10} {size:<4} cpu {used.cpu:7.2f} s   wall {used.wall:7.2f} s", flush=True
        )
        return used


def main() -> int:
    """Prints each run and two tables."""
    given = _arguments()
    if given.merge:
        return _report(read(given.merge))
    figures = Figures(given.rows, [])
    if given.json is not None and given.json.exists():
        figures = read([given.json])
        if figures.rows != given.rows:
            raise SystemExit(f"{given.json} is about {figures.rows:,} rows.")
    # As for a user's second run: the first one makes it when it has ended, and would be charged with that.
    ensure_archive(ArchiveKey(find_java()))
    failed = False
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), given.rows, given.only)
        for number in range(given.rounds):
            # Turns, so that a machine that gets slower hits all alike.
            turn = given.systems if number % 2 == 0 else dict(reversed(given.systems.items()))
            for workload, (system, run) in ((w, s) for w in given.only for s in turn.items()):
                if len(figures.of(workload, system)) > number:
                    continue
                try:
                    figures.pairs.append(bench.pair(workload, system, run))
                except CommandFailed as error:
                    failed = True
                    print(f"{workload} {system} FAILED: {error}", flush=True)
                if given.json is not None:
                    figures.write(given.json)
    return _report(figures) or int(failed)


def _report(figures: Figures) -> int:
    broken = False
    print("", *table(figures), "", sep="\n")
    for line, fine in judge(figures):
        print(line)
        broken |= not fine
    return int(broken)


class _Arguments(msgspec.Struct):
    rows: int
    rounds: int
    only: list[str]
    systems: dict[str, Run]
    json: Path | None
    merge: list[Path]


def _arguments() -> _Arguments:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000, help="2,000,000")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each variant (1)")
    parser.add_argument("--only", default=",".join(WORKLOADS), help="workloads, separated by commas")
    parser.add_argument("--systems", default="", help="systems, separated by commas (all that are there)")
    parser.add_argument("--pipelines", metavar="PYTHON", help="a Python with pyspark[pipelines]")
    parser.add_argument("--flink", metavar="PYTHON,JARS", help="a Python with apache-flink, its jars")
    parser.add_argument(
        "--json",
        type=Path,
        help="keep the figures here as runs end; those that are here count, and are not measured again",
    )
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="print what is in these, run nothing",
    )
    given = parser.parse_args()
    known = {} if given.merge else systems(given.pipelines, given.flink)
    only, chosen = given.only.split(","), given.systems.split(",") if given.systems else list(known)
    for names, there in ((only, WORKLOADS.keys()), (chosen, known.keys())):
        if unknown := set(names) - there:
            parser.error(f"not there: {', '.join(sorted(unknown))}; there are: {', '.join(there)}")
    return _Arguments(
        given.rows, given.rounds, only, {name: known[name] for name in chosen}, given.json, given.merge
    )


if __name__ == "__main__":
    sys.exit(main())
