"""How tests are shared out among the workers of `pytest -n`.

A file goes to one worker, since its tests share what they set up. The tests of long files go one by one,
and the longest go first, so that no worker is left with one of them when all else is done.

Dozens of tests start a JVM, on a fresh environment without an archive of Spark's classes: loading these is
half of what such a JVM costs. So the archive is made while the workers collect.
"""

from __future__ import annotations

from threading import Thread

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

from runtime.spark.archive import ArchiveKey, ensure_archive
from runtime.spark.java import find_java

LONGEST_FIRST = (
    "tests/pipelines/test_flights.py::test_killed_runs",
    "tests/test_cases_together.py::test_killed",
    "tests/test_cases_together.py::test_",
    "tests/runtime/test_joins_generated.py",
    "tests/cli/test_runs.py",
    "tests/pipelines/test_flights.py",
    "tests/compiler/test_functions_spark.py",
    "tests/runtime/test_crash.py::test_",
    "tests/runtime/test_launcher.py::test_",
    "tests/runtime/",
)
"""Beginnings of tests' ids, those of the longest tests first; one that goes into a name takes tests apart."""


def rank(test: str) -> int:
    """The place of a test in the list; those that are not in it come last."""
    return next((place for place, start in enumerate(LONGEST_FIRST) if test.startswith(start)), 10**6)


def unit(test: str) -> str:
    """What one worker runs in one go: the test's file, or the test alone."""
    place = rank(test)
    alone = place < len(LONGEST_FIRST) and "::" in LONGEST_FIRST[place]
    return test if alone else test.partition("::")[0]


def longest_first(items: list[pytest.Item]) -> None:
    """Sort tests by the list, and leave the others in their order."""
    items.sort(key=lambda item: rank(item.nodeid))


def make_archive() -> None:
    """Make the archive that serves each class path, or wait until another process has made it."""
    ensure_archive(ArchiveKey(find_java()))


def begin_archive() -> None:
    """Begin to make it, beside the workers' collecting."""
    Thread(target=make_archive).start()


class Workers(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Hands out units in the order in which tests were collected."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
