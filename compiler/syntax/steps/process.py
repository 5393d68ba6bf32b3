"""Hands rows to a process function."""

from __future__ import annotations

from typing import Final

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import OptionDecl, Step, Text
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

_KEYS: Final = ("function", "by", "with")


class ProcessStep(Step, frozen=True):
    """A process function, the keys of its rows, and arguments for its constructor."""

    function: Text
    by: tuple[Text, ...]
    arguments: tuple[OptionDecl, ...]


def read_process(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `process: {function, by, with}`, or `process: function`."""
    yaml = reader.yaml
    if entry.node.id == "scalar":
        name = yaml.text(entry.node, "`process`")
        return ProcessStep(span, name, (), ()) if name is not None else None
    keys = yaml.mapping(entry.node, "`process`", _KEYS, ("function",))
    if keys is None or "function" not in keys:
        return None
    name = yaml.text(keys["function"].node, "`function` of `process`")
    by = yaml.texts(keys["by"].node, "`by` of `process`") if "by" in keys else ()
    given = tuple(yaml.options(keys["with"].node, "`with` of `process`")) if "with" in keys else ()
    return ProcessStep(span, name, by, given) if name is not None else None
