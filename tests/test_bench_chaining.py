"""What the chaining bench makes of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.chaining.figures import Figures, Pair, read
from bench.chaining.report import judge, table
from bench.common import Usage


def _figures(rows: int, cpu: Mapping[tuple[str, str], list[tuple[float, float]]]) -> Figures:
    """Of CPU seconds on few and on all rows, a pair a round."""
    return Figures(
        rows,
        [
            Pair(workload, system, Usage(1.0, few), Usage(2.0, all_))
            for (workload, system), rounds in cpu.items()
            for few, all_ in rounds
        ],
    )


def _verdicts(figures: Figures) -> dict[tuple[str, str, str], tuple[str, bool]]:
    found = {}
    for line, fine in list(judge(figures))[2:]:
        workload, peer, part, *_, verdict = (cell.strip() for cell in line.strip("|").split("|"))
        found[workload, peer, part] = verdict, fine
    return found


def test_limits_are_judged_by_medians() -> None:
    figures = _figures(
        2_000_000,
        {
            ("W2", "per-sink"): [(40, 60), (40, 70), (40, 100)],
            ("W2", "headrace"): [(40, 60)] * 3,
            ("W3", "per-sink"): [(10, 20)],
            ("W3", "per-model"): [(10, 24)],
            ("W3", "headrace"): [(8, 18)],
            ("W4", "per-sink"): [(10, 30)],
            ("W4", "headrace"): [(10, 9)],
        },
    )
    found = _verdicts(figures)
    assert found["W2", "per-sink", "rest"] == ("reached", True)
    assert found["W2", "views", "rest"] == ("not measured", True)
    assert found["W3", "per-sink", "rest"] == ("reached", True)
    assert found["W3", "per-sink", "whole"] == ("reached", True)
    assert found["W3", "per-model", "rest"] == ("NOT REACHED", False)
    verdict, fine = found["W4", "per-sink", "rest"]
    assert "noise" in verdict
    assert not fine
    (line,) = [line for line in table(figures) if line.startswith("| W2 | per-sink")]
    assert line.endswith("| 3 | 40.0 (40.0–40.0) | 30.0 (20.0–60.0) | 70.0 (60.0–100.0) | 2.0 (2.0–2.0) "
                         "| 1.50x (1.00x–3.00x) |")  # fmt: skip


def test_whole_runs_are_judged_at_the_rows_that_their_limit_is_for() -> None:
    runs = {("W1", "per-sink"): [(10.0, 20.0)], ("W1", "headrace"): [(10.0, 20.0)]}
    assert not _verdicts(_figures(2_000_000, runs))["W1", "per-sink", "whole"][1]
    assert _verdicts(_figures(10_000_000, runs))["W1", "per-sink", "whole"] == (
        "holds at 2,000,000 rows",
        True,
    )


def test_files_are_merged_if_they_are_about_as_many_rows(tmp_path: Path) -> None:
    parts = [
        _figures(1000, {("W1", "per-sink"): [(1, 2)]}),
        _figures(1000, {("W1", "per-sink"): [(3, 4)], ("W1", "headrace"): [(5, 6)]}),
        _figures(2000, {("W1", "headrace"): [(7, 8)]}),
    ]
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for part, path in zip(parts, paths, strict=True):
        part.write(path)
    assert read(paths[:2]) == Figures(1000, parts[0].pairs + parts[1].pairs)
    with pytest.raises(ValueError, match="1000, 2000"):
        read(paths)
