"""Leaves out rows that were there before."""

from __future__ import annotations

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Step
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry


class DistinctStep(Step, frozen=True):
    """SELECT DISTINCT over all columns."""


def read_distinct(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `distinct: true`."""
    said = reader.yaml.text(entry.node, "`distinct`")
    if said is None:
        return None
    if said.value.lower() != "true":
        reader.yaml.wrong(entry.node, "`distinct`", "true", fix="leave the step out if it is not wanted")
        return None
    return DistinctStep(span)
