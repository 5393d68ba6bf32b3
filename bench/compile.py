"""Measures `headrace compile` on projects of 100 to 2,000 models, cold and warm, `list` and `--help`.

    python -m bench.compile

Each figure is the CPU time, user and system, of the whole command, from the start of its interpreter: the
median of five runs, with the files in the operating system's cache. Cold is with nothing in target/, warm
with what the compile before has left there. Ends with exit code 1 if one is over its limit.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.common import Usage, headrace, measure
from bench.projects import make_project

LIMITS = {100: 1.0, 500: 3.0}
# Nothing has changed since the last compile; one model of 500 has.
WARM_LIMIT = 0.6
EDIT_LIMIT = 0.8
HELP_LIMIT = 0.2
# No limit of its own: four times the models may take about four times as long.
LARGEST = 2000


def measure_compile(folder: Path) -> Usage:
    """One compile of a project that was never compiled."""
    shutil.rmtree(folder / "target", ignore_errors=True)
    return measure([headrace(), "compile", "--project-dir", str(folder)])


def measure_edit(folder: Path) -> Usage:
    """One compile after a number in one model has changed."""
    model = next(iter(sorted((folder / "models").rglob("clean_*.sql"))))
    edited = re.sub(r"price > (\d+)", lambda m: f"price > {int(m[1]) + 1}", model.read_text())
    model.write_text(edited)
    return measure([headrace(), "compile", "--project-dir", str(folder)])


def report(what: str, limit: float | None, rounds: int, once: Callable[[], Usage]) -> bool:
    """Measures, prints a line of the table, and says whether the limit holds."""
    once()
    runs = [once() for _ in range(rounds)]
    cpu = median(run.cpu for run in runs)
    wall = median(run.wall for run in runs)
    verdict = "" if limit is None or cpu <= limit else "  OVER"
    print(f"{what:<28} {cpu:>8.2f} {limit or '':>8} {wall:>8.2f}{verdict}", flush=True)
    return not verdict


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures the compiler.")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command (5)")
    rounds = parser.parse_args().rounds
    print(f"{'':<28} {'CPU s':>8} {'limit':>8} {'wall s':>8}")
    within = [report("headrace --help", HELP_LIMIT, rounds, lambda: measure([headrace(), "--help"]))]
    with tempfile.TemporaryDirectory() as folder:
        for models, limit in {**LIMITS, LARGEST: None}.items():
            project = Path(folder) / str(models)
            make_project(project, models)

            def once(project: Path = project) -> Usage:
                return measure_compile(project)

            within.append(report(f"compile {models} models", limit, rounds, once))
        project = Path(folder) / "500"

        def again(command: str) -> Callable[[], Usage]:
            return lambda: measure([headrace(), command, "--project-dir", str(project)])

        within.append(report("compile 500 models, warm", WARM_LIMIT, rounds, again("compile")))
        within.append(report("list 500 models, warm", WARM_LIMIT, rounds, again("list")))
        within.append(
            report("compile 500 models, one edit", EDIT_LIMIT, rounds, lambda: measure_edit(project))
        )
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main())
