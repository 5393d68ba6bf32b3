"""Measures what headrace costs beside the same pipeline written for Spark by hand.

    python -m bench.overhead

The flights of a whole year go through `headrace run` on pipelines/flights, and through the queries of
bench/flights_by_hand.py: the same source files and epochs, the same three queries at once, the same sinks,
the same session settings. The variants take turns, so that a machine that gets slower hits them alike; their
rows are compared; the figure is CPU time, user and system, of a whole process with its JVM.

`by hand` runs in headrace's session, so that the difference is what compiling, checking and exactly-once
cost, and nothing of what the class-data archive saves: its ratio is the one that is judged. `plain` (with
--plain) lets PySpark start the JVM, as most people would. Ends with exit code 1 if headrace needs more than
1.05 times what `by hand` needs.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.common import Usage, headrace, measure
from pipelines.flights.prepare import YEAR, lay_out
from pipelines.flights.show import read_sinks

FLIGHTS = Path(__file__).resolve().parent.parent / "pipelines" / "flights"
LIMIT = 1.05
_SINKS = ("departures", "cancellations", "airport_delays", "carrier_punctuality")


def fresh_project(folder: Path, data: Path) -> Path:
    """A copy of the pipeline that reads the shared files and has never run."""
    kept = shutil.ignore_patterns("data", "out", "target", ".headrace", "__pycache__")
    shutil.copytree(FLIGHTS, folder, ignore=kept)
    (folder / "data").symlink_to(data.parent)
    return folder


def run_once(variant: str, folder: Path, data: Path) -> tuple[Usage, Path]:
    """Runs a variant in a fresh folder; returns what it took and where its sinks are."""
    if variant == "headrace":
        project = fresh_project(folder, data)
        return measure([headrace(), "run", "--project-dir", str(project)]), project / "out"
    folder.mkdir()
    command = [sys.executable, "-m", "bench.flights_by_hand", str(data), str(folder)]
    return measure([*command, *(["--plain"] if variant == "plain" else [])]), folder


def fingerprints(out: Path) -> dict[str, object]:
    """Number of rows and a sum of their hashes, for each sink."""
    database = read_sinks(out)
    # Both have these names; the order of columns is that of the writer.
    query = "SELECT count(*), sum(hash(s)) FROM (SELECT * FROM {}) AS s"
    return {sink: database.execute(query.format(sink)).fetchall()[0] for sink in _SINKS}


def main() -> int:
    """Prints each run and the ratios."""
    parser = argparse.ArgumentParser(description="Measures headrace against queries written by hand.")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each variant (3)")
    parser.add_argument("--days", type=int, default=len(YEAR), help="only the first days of the year")
    parser.add_argument("--plain", action="store_true", help="measure plain PySpark as well")
    given = parser.parse_args()
    variants = ["by hand", "headrace", *(["plain"] if given.plain else [])]
    runs: dict[str, list[Usage]] = {variant: [] for variant in variants}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm, data = folder / "warm" / "flights", folder / "data" / "flights"
        lay_out(warm, YEAR[:2])
        lay_out(data, YEAR[: given.days])
        # Fetches jars and makes the archive, if this machine has not done so; measure() waits for both.
        run_once("headrace", folder / "first", warm)
        for number in range(given.rounds):
            seen: dict[str, dict[str, object]] = {}
            for variant in variants if number % 2 == 0 else reversed(variants):
                place = folder / f"{variant.replace(' ', '_')}_{number}"
                used, out = run_once(variant, place, data)
                runs[variant].append(used)
                seen[variant] = fingerprints(out)
                print(f"{variant:<10} cpu {used.cpu:7.2f} s   wall {used.wall:7.2f} s", flush=True)
                shutil.rmtree(place)
            if any(rows != seen["by hand"] for rows in seen.values()):
                raise SystemExit(f"the variants wrote different rows: {seen}")
    base = median(run.cpu for run in runs["by hand"])
    for variant in variants:
        cpu = median(run.cpu for run in runs[variant])
        print(f"{variant:<10} median cpu {cpu:7.2f} s   ratio {cpu / base:.3f}")
    ratio = median(run.cpu for run in runs["headrace"]) / base
    print(f"headrace / by hand: {ratio:.3f}, limit {LIMIT}{'' if ratio <= LIMIT else '  OVER'}")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
