"""The functions of Spark SQL that a pipeline may call: arguments, types and behaviour, known without a JVM.

One table a topic, one line a function; `build.py` has the words that the lines are written in. Adding a
function is adding its line, and an example in `tests/compiler/functions/examples.txt`, which Spark's analyzer
judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
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


_NONE: Mapping[str, Function] = MappingProxyType({})
_OF_PROJECT: ContextVar[Mapping[str, Function]] = ContextVar("functions of the project")


@contextmanager
def functions_of_project(functions: Mapping[str, Function]) -> Iterator[None]:
    """Adds a project's own functions, by lower-case name, while it is bound.

    A variable of the context: every binder of expressions would have to be handed them otherwise.
    """
    token = _OF_PROJECT.set(functions)
    try:
        yield
    finally:
        _OF_PROJECT.reset(token)


def names() -> list[str]:
    """All names that can be called."""
    return [*FUNCTIONS, *_OF_PROJECT.get(_NONE)]


def lookup(name: str) -> Function | None:
    """The function of that name, without regard to case: Spark's, or one of the project that is bound."""
    found = FUNCTIONS.get(name.lower())
    return found if found is not None else _OF_PROJECT.get(_NONE).get(name.lower())
