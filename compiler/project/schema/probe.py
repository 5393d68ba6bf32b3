"""Asks a step's reader which keys it knows, by giving it one that nobody knows.

So the schema of steps cannot differ from what is read, and a new step is in it as soon as it can be read.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Final

from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.source import SourceFile
from compiler.syntax.declarations import Text
from compiler.syntax.parsed import Scope
from compiler.syntax.steps import READERS
from compiler.syntax.steps.join import FORMS
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import YamlReader

_UNKNOWN: Final = "__unknown__"
# Deeper than any step goes.
_DEPTH: Final = 4
# Words that are looked for before the keys are: the unknown key does not bring them out.
_FORMS: Final = {"join": tuple(form for form in FORMS if form is not None)}

Keys = dict[str, "Keys | None"]
"""Keys of a mapping, each with those of its value, or None where any value may stand."""


class _Listener(YamlReader):
    """Notes which keys were allowed where the unknown one stood."""

    allowed: tuple[str, ...] | None = None

    def unknown(self, key: Text, what: str, allowed: Collection[str]) -> str | None:
        """Takes the place of the finding."""
        if key.value == _UNKNOWN:
            self.allowed = tuple(allowed)
        return None


def step_keys(name: str, path: Sequence[str] = ()) -> Keys | None:
    """The keys under a step, or under a path of keys within it; None if any key may stand there."""
    value: dict[str, Any] = {_UNKNOWN: "x"}
    for key in reversed(path):
        value = {key: value}
    listener = _Listener(Scope(SourceFile("step.yml", json.dumps({name: value})), {}, Reporter()))
    root = listener.compose()
    READERS[name](StepReader(listener, READERS), listener.entries(root, "a step")[0], listener.span(root))
    if listener.allowed is None:
        return None
    allowed = (*listener.allowed, *(_FORMS.get(name, ()) if not path else ()))
    return {key: step_keys(name, (*path, key)) if len(path) < _DEPTH else None for key in allowed}
