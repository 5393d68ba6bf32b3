"""Keeps rows."""

from __future__ import annotations

from typing import ClassVar

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Step
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry


class FilterStep(Step, frozen=True):
    """Keeps rows."""

    keeps_columns: ClassVar[bool] = True

    predicate: Fragment


def read_filter(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `filter: predicate`."""
    predicate = reader.expression(entry.node, "`filter`")
    return FilterStep(span, predicate) if predicate is not None else None
