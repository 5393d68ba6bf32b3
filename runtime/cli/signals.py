"""Ctrl-C and SIGTERM during a run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from runtime.cli.running import Control


class Signals:
    """Turns signals into requests to a run, from `with` to its end.

    The first Ctrl-C, or SIGTERM, asks for a clean stop; the next Ctrl-C abandons the epochs in flight; one
    more ends the process. Until `started` is called there is nothing to finish, and all end it at once.

    Args:
        control: takes the requests.
        tell: called once for the first request and once for the second, from a thread of its own: a
            handler may interrupt a write, and must not write itself.
    """

    def __init__(self, control: Control, tell: Callable[[bool], None]) -> None:
        self._control = control
        self._tell = tell
        self._started = False
        self._done = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._install(signal.SIGTERM)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done = True
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def started(self) -> None:
        """Queries are about to start. Spark has set a handler of its own by now, which is replaced."""
        self._started = True
        self._install(signal.SIGINT)
        threading.Thread(target=self._watch, name="headrace-signals", daemon=True).start()

    def _install(self, number: int) -> None:
        # Only the main thread may; a program that embeds headrace elsewhere handles its own signals.
        if threading.current_thread() is threading.main_thread():
            self._before[number] = signal.signal(number, self._handle)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if not self._started or self._control.abandon.is_set():
            raise KeyboardInterrupt
        if not self._control.stop.is_set():
            self._control.stop.set()
        elif number == signal.SIGINT:
            self._control.abandon.set()

    def _watch(self) -> None:
        self._control.stop.wait()
        if not self._done:
            self._tell(False)
        self._control.abandon.wait()
        if not self._done:
            self._tell(True)
