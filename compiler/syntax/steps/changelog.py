"""Rows read as changes, and changes made rows."""

from __future__ import annotations

from typing import Final

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Step, Text
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

_KEYS: Final = {
    "from_changelog": ("by", "op", "op_mapping", "invalid_op_handling"),
    "to_changelog": ("by", "op", "op_mapping"),
}


class ChangelogStep(Step, frozen=True):
    """`from_changelog` or `to_changelog`; `mapping` is None if it was left out."""

    function: str
    by: tuple[Text, ...]
    op: Text | None
    mapping: tuple[tuple[Text, Text], ...] | None
    invalid: Text | None


def read_changelog(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `from_changelog: {by: [id], op: op, op_mapping: {c: INSERT}}` and `to_changelog`."""
    name = entry.key.value
    keys = reader.yaml.mapping(
        entry.node, f"`{name}`", _KEYS[name], ["by"] if name == "from_changelog" else []
    )
    if keys is None or (name == "from_changelog" and "by" not in keys):
        return None
    by = tuple(reader.yaml.texts(keys["by"].node, "`by`")) if "by" in keys else ()
    op = reader.yaml.text(keys["op"].node, "`op`") if "op" in keys else None
    invalid = None
    if "invalid_op_handling" in keys:
        invalid = reader.yaml.text(keys["invalid_op_handling"].node, "`invalid_op_handling`")
    mapping = _mapping(reader, keys["op_mapping"]) if "op_mapping" in keys else None
    return ChangelogStep(span, name, by, op, mapping, invalid)


def _mapping(reader: StepReader, entry: Entry) -> tuple[tuple[Text, Text], ...]:
    if entry.node.id != "mapping":
        reader.yaml.wrong(entry.node, "`op_mapping`", "a mapping", fix="write `code: KIND` lines")
        return ()
    found: list[tuple[Text, Text]] = []
    for pair in reader.yaml.entries(entry.node, "`op_mapping`"):
        value = reader.yaml.text(pair.node, f"`{pair.key.value}` of `op_mapping`")
        if value is not None:
            found.append((pair.key, value))
    return tuple(found)
