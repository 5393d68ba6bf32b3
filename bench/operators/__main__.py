"""Stateful operators: rows a second of each, beside what it is to be compared with.

    python -m bench.operators [--rows 1000000] [--keys 20000,200000] [--only dedup_first,tumble] [--rounds 2]

Each reads the same Parquet files, one an epoch; joins read some of the rows once more, as their second input.
Rows that come out are counted, not written. Rows a second are those of all inputs.

- Those in headrace's own state stand beside a running sum by key that is written by hand on the same state
  by bucket, the least that such an operator can do: it reads its state, adds, writes it back, and hands every
  row on. In each round it runs right before each of them, and a ratio is that of such a pair: the median of
  the rounds, with the least and the greatest behind it.
- Those that Spark has stand beside the same query written in PySpark; the two run in turn.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from pathlib import Path
from statistics import median

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
        folder: for checkpoints.
    """

    def __init__(self, session: SparkSession, source: Path, folder: Path) -> None:
        self._session = session
        self._source = source
        self._checkpoints = (folder / str(number) for number in itertools.count())

    def measure(self, lowered: Lowered) -> tuple[Measured, Path]:
        """A run, and its checkpoint."""
        checkpoint = next(self._checkpoints)
        return run(lowered, self._session, self._source, checkpoint), checkpoint

    def own(self, names: list[str], rounds: int) -> None:
        """A line for each operator on state by bucket, after each round, with the ratio to the yardstick."""
        found: dict[str, list[Measured]] = {name: [] for name in (YARDSTICK, *names)}
        ratios: dict[str, list[float]] = {name: [] for name in names}
        sizes: dict[str, float] = {}
        for number in range(rounds):
            for name in names:
                beside = self._kept(YARDSTICK, found, sizes)
                ratios[name].append(self._kept(name, found, sizes).speed / beside.speed)
            print(f"round {number + 1} of {rounds}")
            print(
                f"{'operator':18}{'rows in':>10}{'rows out':>10}{'rows/s':>10}"
                f"{'ratio':>19}{'CPU s':>8}{'state MB':>10}"
            )
            for name, of in found.items():
                spread = ratios.get(name, [1.0])
                ratio = f"{median(spread):.2f} ({min(spread):.2f}-{max(spread):.2f})"
                print(
                    f"{name:18}{of[-1].taken:>10}{of[-1].given:>10}{median(m.speed for m in of):>10,.0f}"
                    f"{ratio:>19}{median(m.cpu for m in of):>8.1f}{sizes[name]:>10.2f}",
                    flush=True,
                )

    def _kept(self, name: str, found: dict[str, list[Measured]], sizes: dict[str, float]) -> Measured:
        measured, checkpoint = self.measure(OPERATORS[name])
        found[name].append(measured)
        if name not in sizes:
            sizes[name] = state_bytes(self._session, checkpoint) / 1e6
        return measured

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
            if by_hand.given != lowered.given:
                raise SystemExit(f"{name}: {lowered.given} rows, and {by_hand.given} by hand")
            print(
                f"{name:18}{lowered.given:>10}{lowered.speed:>10,.0f}{lowered.cpu:>8.1f}"
                f"{by_hand.cpu:>9.1f}{lowered.cpu / by_hand.cpu:>7.2f}",
                flush=True,
            )


def main() -> None:
    """Prints a line for each operator, and for each number of keys."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", default="20000,200000", help="how many, with commas")
    parser.add_argument("--only", default="", help="names of operators, with commas")
    parser.add_argument("--rounds", type=int, default=2, help="of each operator")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [*OPERATORS, *PAIRS]
    own, native = [n for n in names if n in OPERATORS and n != YARDSTICK], [n for n in names if n in PAIRS]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for keys in map(int, options.keys.split(",")):
            make_input(root / f"in-{keys}", options.rows, keys)
        # A session for each kind: workers of the first that end while the second is measured would take their
        # CPU time off it.
        for kind, chosen in (("own", own), ("native", native)):
            if not chosen:
                continue
            settings = SessionSettings(
                f"bench-operators-{kind}",
                root / f"{kind}.log",
                master="local[2]",
                # As `headrace run` opens one: workers are forked from a process that has its imports.
                python_workers=kind == "own",
            )
            session = open_session(settings)
            try:
                warm = make_input(root / f"warm-{kind}", 1_000, 10)
                first = OPERATORS[YARDSTICK] if kind == "own" else PAIRS["tumble"].by_hand
                run(first, session, warm, root / f"state-warm-{kind}")
                for keys in map(int, options.keys.split(",")):
                    print(f"--- {options.rows:,} rows, {keys:,} keys")
                    bench = Bench(session, root / f"in-{keys}", root / f"state-{kind}-{keys}")
                    if kind == "own":
                        bench.own(own, options.rounds)
                    else:
                        bench.native(native, options.rounds)
            finally:
                close_session(session)


if __name__ == "__main__":
    main()
