"""Stateful operators: rows a second of each, beside what it is to be compared with.

    python -m bench.operators [--rows 1000000] [--keys 20000,200000] [--only dedup_first,tumble] [--rounds 2]

Each reads the same Parquet files, one an epoch, and its rows are counted, not written.

- Those in headrace's own state stand beside a running sum by key that is written by hand on the same state
  by bucket, the least that such an operator can do: it reads its state, adds, writes it back, and hands every
  row on. It runs before them, and once more at the end to show what the machine has become meanwhile.
- Those that Spark has stand beside the same query written in PySpark; the two run in turn.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from bench.operators.data import Lowered, Measured, make_input, run, state_bytes
from bench.operators.native import PAIRS
from bench.operators.own import OPERATORS, YARDSTICK
from runtime.spark.session import SessionSettings, close_session, open_session


class Bench:
    """Runs queries over one input in one session.

    Args:
        session: where.
        source: files of rows.
        rows: how many.
        folder: for checkpoints.
    """

    def __init__(self, session: SparkSession, source: Path, rows: int, folder: Path) -> None:
        self._session = session
        self._source = source
        self._rows = rows
        self._checkpoints = (folder / str(number) for number in itertools.count())

    def measure(self, lowered: Lowered) -> tuple[Measured, Path]:
        """A run, and its checkpoint."""
        checkpoint = next(self._checkpoints)
        return run(lowered, self._session, self._source, checkpoint), checkpoint

    def own(self, names: list[str]) -> None:
        """A line for each operator on state by bucket; ratios are those to the first, a yardstick."""
        print(f"{'operator':18}{'rows out':>10}{'rows/s':>10}{'ratio':>8}{'CPU s':>8}{'state MB':>10}")
        yardstick = 0.0
        for name in (YARDSTICK, *(name for name in names if name != YARDSTICK), YARDSTICK):
            measured, checkpoint = self.measure(OPERATORS[name])
            yardstick = yardstick or measured.wall
            size = state_bytes(self._session, checkpoint) / 1e6
            print(
                f"{name:18}{measured.rows:>10}{self._rows / measured.wall:>10,.0f}"
                f"{yardstick / measured.wall:>8.2f}{measured.cpu:>8.1f}{size:>10.2f}",
                flush=True,
            )

    def native(self, names: list[str], rounds: int) -> None:
        """A line for each operator of Spark's: the least CPU of some rounds, lowered and by hand."""
        print(f"{'operator':18}{'rows out':>10}{'rows/s':>10}{'CPU s':>8}{'by hand':>9}{'times':>7}")
        for name in names:
            pair = PAIRS[name]
            # The first of a kind compiles for the second: they take turns at being the first.
            order = [pair.by_hand, pair.lowered, pair.lowered, pair.by_hand]
            found = [(way, self.measure(way)[0]) for n in range(rounds) for way in order[n % 2 * 2 :][:2]]
            by_hand = min((m for way, m in found if way is pair.by_hand), key=lambda m: m.cpu)
            lowered = min((m for way, m in found if way is pair.lowered), key=lambda m: m.cpu)
            if by_hand.rows != lowered.rows:
                raise SystemExit(f"{name}: {lowered.rows} rows, and {by_hand.rows} by hand")
            print(
                f"{name:18}{lowered.rows:>10}{self._rows / lowered.wall:>10,.0f}{lowered.cpu:>8.1f}"
                f"{by_hand.cpu:>9.1f}{lowered.cpu / by_hand.cpu:>7.2f}",
                flush=True,
            )


def main() -> None:
    """Prints a line for each operator, and for each number of keys."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", default="20000,200000", help="how many, with commas")
    parser.add_argument("--only", default="", help="names of operators, with commas")
    parser.add_argument("--rounds", type=int, default=2, help="of each operator of Spark's")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [*OPERATORS, *PAIRS]
    own, native = [n for n in names if n in OPERATORS], [n for n in names if n in PAIRS]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for keys in map(int, options.keys.split(",")):
            make_input(root / f"in-{keys}", options.rows, keys)
        # A session for each kind: workers of the first that end while the second is measured would take their
        # CPU time off it.
        for kind, chosen in (("own", own), ("native", native)):
            if not chosen:
                continue
            settings = SessionSettings(f"bench-operators-{kind}", root / f"{kind}.log", master="local[2]")
            session = open_session(settings)
            try:
                warm = make_input(root / f"warm-{kind}", 1_000, 10)
                first = OPERATORS[YARDSTICK] if kind == "own" else PAIRS["tumble"].by_hand
                run(first, session, warm, root / f"state-warm-{kind}")
                for keys in map(int, options.keys.split(",")):
                    print(f"--- {options.rows:,} rows, {keys:,} keys")
                    bench = Bench(session, root / f"in-{keys}", options.rows, root / f"state-{kind}-{keys}")
                    if kind == "own":
                        bench.own(own)
                    else:
                        bench.native(native, options.rounds)
            finally:
                close_session(session)


if __name__ == "__main__":
    main()
