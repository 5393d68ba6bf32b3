"""What runs took: kept in a file as each one ends, so that a bench can go on where it stopped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Literal

import msgspec

from bench.common import Usage

Part = Literal["fixed", "rest", "whole"]
"""Of a run's CPU: start-up and what epochs cost; the rows; both."""


class Pair(msgspec.Struct, frozen=True):
    """A system's run of a workload on a few rows, and the one on all rows right after it.

    Both run on the same machine in the same mood, so that their difference is what the rows took.
    """

    workload: str
    system: str
    few: Usage
    all: Usage

    def cpu(self, part: Part) -> float:
        """Seconds of user and system time."""
        match part:
            case "fixed":
                return self.few.cpu
            case "rest":
                return self.all.cpu - self.few.cpu
            case "whole":
                return self.all.cpu


class Figures(msgspec.Struct):
    """All that was measured on one number of rows."""

    rows: int
    pairs: list[Pair]

    def of(self, workload: str, system: str) -> list[Pair]:
        """A variant's runs, in order."""
        return [pair for pair in self.pairs if (pair.workload, pair.system) == (workload, system)]

    def write(self, path: Path) -> None:
        """Writes them as JSON; a reader sees the old ones or the new ones."""
        beside = path.with_name(f"{path.name}.new")
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1))
        beside.replace(path)


def read(paths: Iterable[Path]) -> Figures:
    """The figures of some files as if measured together.

    Raises:
        ValueError: they are about different numbers of rows.
        msgspec.DecodeError: a file is none of ours.
    """
    figures = [msgspec.json.decode(path.read_bytes(), type=Figures) for path in paths]
    if len(rows := {each.rows for each in figures}) != 1:
        raise ValueError(f"the files are about different numbers of rows: {sorted(rows)}")
    return Figures(rows.pop(), [pair for each in figures for pair in each.pairs])


class Spread(msgspec.Struct, frozen=True):
    """The median of some figures, between the least and the greatest of them."""

    middle: float
    least: float
    most: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """That of at least one value."""
        return cls(median(values), min(values), max(values), len(values))

    def over(self, other: Spread) -> Spread | None:
        """How many times the other this is: that of the medians, between the most unlike rounds.

        Returns:
            None if either is not above zero: too few rows to stand out of the noise.
        """
        if min(self.middle, other.middle) <= 0:
            return None
        return Spread(
            self.middle / other.middle,
            self.least / other.most,
            self.most / other.least if other.least > 0 else math.inf,
            max(self.count, other.count),
        )

    def show(self, digits: int, unit: str = "") -> str:
        """For a table; the span only if there were several."""
        text = f"{self.middle:.{digits}f}{unit}"
        return (
            text
            if self.count == 1
            else f"{text} ({self.least:.{digits}f}{unit}–{self.most:.{digits}f}{unit})"
        )
