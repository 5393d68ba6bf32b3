"""`optimizer:` of headrace.yml: optimizer rules that the project switches off."""

from __future__ import annotations

from typing import Final

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.optimize import NAMES
from compiler.syntax.yaml_nodes import Entry, YamlReader

# What YAML 1.1 and people write.
_ON: Final = ("true", "on", "yes")
_OFF: Final = ("false", "off", "no")


def read_switches(yaml: YamlReader, entry: Entry | None) -> frozenset[str]:
    """Names of the rules that are off.

    Args:
        yaml: the reader of headrace.yml.
        entry: the key `optimizer`, None if it is left out.
    """
    if entry is None or yaml.is_null(entry.node):
        return frozenset()
    off: set[str] = set()
    for name, value in (yaml.mapping(entry.node, "`optimizer`", NAMES) or {}).items():
        text = yaml.text(value.node, f"`{name}`")
        if text is None or text.value.lower() in _ON:
            continue
        if text.value.lower() in _OFF:
            off.add(name)
        else:
            yaml.scope.error(WRONG_VALUE, f"`{name}` is `on` or `off`, not `{text.value}`", text.span)
    return frozenset(off)
