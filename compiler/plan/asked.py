"""A setting with the place where it was asked for."""

from __future__ import annotations

from typing import Generic, TypeVar

from compiler.diagnostics.source import Span
from compiler.frozen import frozen

V = TypeVar("V")


@frozen(slots=True)
class Asked(Generic[V]):
    """A value and where it was asked for."""

    value: V
    place: Span
