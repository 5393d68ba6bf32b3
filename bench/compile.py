"""Measures `headrace compile` on projects of 100 and 500 models, and `headrace --help`.

    python -m bench.compile

Each figure is the CPU time, user and system, of the whole command, from the start of its interpreter: the
median of five runs, with nothing in target/ and the files in the operating system's cache. Ends with exit
code 1 if one is over its limit.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.common import Usage, headrace, measure
from bench.projects import make_project

LIMITS = {100: 1.0, 500: 3.0}
HELP_LIMIT = 0.2


def measure_compile(folder: Path) -> Usage:
    """One compile of a project that was never compiled."""
    shutil.rmtree(folder / "target", ignore_errors=True)
    return measure([headrace(), "compile", "--project-dir", str(folder)])


def report(what: str, limit: float, rounds: int, once: Callable[[], Usage]) -> bool:
    """Measures, prints a line of the table, and says whether the limit holds."""
    once()
    runs = [once() for _ in range(rounds)]
    cpu = median(run.cpu for run in runs)
    wall = median(run.wall for run in runs)
    verdict = "" if cpu <= limit else "  OVER"
    print(f"{what:<24} {cpu:>8.2f} {limit:>8.2f} {wall:>8.2f}{verdict}", flush=True)
    return cpu <= limit


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures the compiler.")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command (5)")
    rounds = parser.parse_args().rounds
    print(f"{'':<24} {'CPU s':>8} {'limit':>8} {'wall s':>8}")
    within = [report("headrace --help", HELP_LIMIT, rounds, lambda: measure([headrace(), "--help"]))]
    with tempfile.TemporaryDirectory() as folder:
        for models, limit in LIMITS.items():
            project = Path(folder) / str(models)
            make_project(project, models)

            def once(project: Path = project) -> Usage:
                return measure_compile(project)

            within.append(report(f"compile {models} models", limit, rounds, once))
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
