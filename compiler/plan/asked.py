"""A setting with the place where it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from compiler.diagnostics.source import Span

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Asked(Generic[V]):
    """A value and where it was asked for."""

    value: V
    place: Span
