"""What Ctrl-C and SIGTERM ask for, without a run."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from runtime.cli.running import Control
from runtime.cli.signals import Signals


def _send(number: int) -> None:
    os.kill(os.getpid(), number)
    # The handler runs between two instructions of this thread.
    time.sleep(0.01)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_first_stops_second_abandons_third_ends(first: int) -> None:
    control, told = Control.new(), list[bool]()
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Signals(control, told.append) as signals:
        signals.started()
        _send(first)
        assert (control.stop.is_set(), control.abandon.is_set()) == (True, False)
        _until(lambda: told == [False])
        # Whoever sends SIGTERM twice is impatient, but did not read that it would abandon anything.
        _send(signal.SIGTERM)
        assert not control.abandon.is_set()
        _send(signal.SIGINT)
        assert control.abandon.is_set()
        _until(lambda: told == [False, True])
        with pytest.raises(KeyboardInterrupt):
            _send(signal.SIGINT)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_nothing_is_to_be_finished_before_the_start() -> None:
    control = Control.new()
    with Signals(control, lambda _: None), pytest.raises(KeyboardInterrupt):
        _send(signal.SIGTERM)
    assert not control.stop.is_set()
