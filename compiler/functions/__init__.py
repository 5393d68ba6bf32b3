"""The functions of Spark SQL that a pipeline may call: arguments, types and behaviour, known without a JVM.

One table a topic, one line a function; `build.py` has the words that the lines are written in. Adding a
function is adding its line, and an example in `tests/compiler/functions/examples.txt`, which Spark's analyzer
judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from compiler.functions import (
    aggregates,
    casts,
    collections,
    conditionals,
    dates,
    documents,
    environment,
    generators,
    hashes,
    lambdas,
    numbers,
    sketches,
    strings,
    windows,
)
from compiler.functions.spec import Function

_TABLES = (
    aggregates.TABLE,
    casts.TABLE,
    collections.TABLE,
    conditionals.TABLE,
    dates.TABLE,
    documents.TABLE,
    environment.TABLE,
    generators.TABLE,
    hashes.TABLE,
    lambdas.TABLE,
    numbers.TABLE,
    sketches.TABLE,
    strings.TABLE,
    windows.TABLE,
)

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {function.name: function for table in _TABLES for row in table for function in row}
)


def lookup(name: str) -> Function | None:
    """The function of that name, without regard to case."""
    return FUNCTIONS.get(name.lower())
