"""Trying again: how often, and after which pauses."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# Pauses double from the first to the longest.
FIRST_PAUSE_SECONDS: float = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Passing:
    """A failure that may pass.

    Args:
        detail: what is logged of it, one line.
        pause: how long the other side asks to wait, in seconds; never longer than the longest pause.
    """

    detail: str
    pause: float | None = None


def retried(retries: int, step: Callable[[], _T], judge: Callable[[Exception], Passing | None]) -> _T:
    """Does a step, again and again while its failures may pass.

    Args:
        retries: how often after the first time.
        step: what is done.
        judge: tells whether a failure may pass; None if it stays, and is raised at once.

    Raises:
        Exception: what the step raised last.
    """
    for number in range(retries):
        try:
            return step()
        except Exception as error:
            passing = judge(error)
            if passing is None:
                raise
            pause = FIRST_PAUSE_SECONDS * 2**number if passing.pause is None else passing.pause
            pause = min(pause, LONGEST_PAUSE_SECONDS)
            _log.warning("%s; trying again in %.1f s", passing.detail, pause)
        time.sleep(pause)
    return step()
