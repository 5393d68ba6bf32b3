"""`diagnostics:` of headrace.yml: warnings that the project does not want to hear, or takes for errors."""

from __future__ import annotations

from typing import Final

from compiler.diagnostics.policy import Allow, Policy, Raise
from compiler.syntax.directives import directives
from compiler.syntax.yaml_nodes import Entry, YamlReader

KEYS: Final = ("allow", "error")


def read_policy(yaml: YamlReader, entry: Entry | None) -> Policy:
    """What the project says of its findings, with the comments of headrace.yml itself.

    Args:
        yaml: the reader of headrace.yml.
        entry: the key `diagnostics`, None if it is left out.
    """
    found: dict[str, Entry] = {}
    if entry is not None and not yaml.is_null(entry.node):
        found = yaml.mapping(entry.node, "`diagnostics`", KEYS) or {}
    codes = {
        key: yaml.texts(value.node, f"`{key}`")
        for key, value in found.items()
        if not yaml.is_null(value.node)
    }
    allows = [Allow(code.value, code.span) for code in codes.get("allow", ())]
    allows += directives(yaml.file, yaml.scope.reporter)
    return Policy(tuple(allows), tuple(Raise(code.value, code.span) for code in codes.get("error", ())))
