"""Flink's built-in functions: rewritten to Spark's, Spark's own, or refused with the reason.

One table a topic, one line a function. Adding a function is adding its line, and an example with its value in
`tests/compiler/functions/flink.txt`, which Spark computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from compiler.functions.flink import collections, documents, numbers, strings, times
from compiler.functions.flink.names import DIFFERS, REFUSED, SAME
from compiler.functions.flink.spec import Refused, Rewrite

_TABLES = (collections.TABLE, documents.TABLE, numbers.TABLE, strings.TABLE, times.TABLE)


def _by_name() -> dict[str, tuple[Rewrite, ...]]:
    found: dict[str, tuple[Rewrite, ...]] = {}
    for table in _TABLES:
        for line in table:
            found[line.name] = (*found.get(line.name, ()), line)
    return found


REWRITES: Mapping[str, tuple[Rewrite, ...]] = MappingProxyType(_by_name())
NOT_RUN: Mapping[str, Refused] = MappingProxyType({refused.name: refused for refused in REFUSED})

__all__ = ["DIFFERS", "NOT_RUN", "REWRITES", "SAME", "Refused", "Rewrite"]
