"""Trying again: what is tried, how often, and how long is waited in between."""

from __future__ import annotations

import time

import pytest

from runtime.connectors import retries
from runtime.connectors.retries import Passing, retried


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


def test_pauses_double_until_it_is_done(pauses: list[float]) -> None:
    left = list(range(9))

    def step() -> str:
        if left:
            raise OSError(left.pop())
        return "done"

    assert retried(9, step, lambda error: Passing(str(error))) == "done"
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert retries.FIRST_PAUSE_SECONDS == 0.5


def test_it_ends_with_the_last_failure_or_with_one_that_stays(pauses: list[float]) -> None:
    tried: list[int] = []

    def step() -> None:
        tried.append(1)
        raise OSError(len(tried))

    with pytest.raises(OSError, match="3"):
        retried(2, step, lambda _: Passing("away", pause=100 if len(tried) == 1 else 0))
    # What the other side asks for, but no longer than is bearable.
    assert pauses == [30, 0]
    with pytest.raises(OSError, match="4"):
        retried(2, step, lambda _: None)
    with pytest.raises(OSError, match="5"):
        retried(0, step, lambda _: Passing("away"))
