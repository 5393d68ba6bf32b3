"""Variables as the command line gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, Reporter


class AnyVariable(dict[str, str]):
    """Stands for the variables of a headrace.yml that could not be read: no file shall complain of them."""

    def get(self, key: str, default: Any = None) -> Any:
        """The name itself, whatever it is."""
        return key


def plain_value(value: object) -> str | None:
    """The text of a variable's value from `--vars`; None if it is no string, number or boolean."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def cli_variables(variables: Mapping[str, object], reporter: Reporter) -> dict[str, str]:
    """The values of `--vars` as texts."""
    found: dict[str, str] = {}
    for name, value in variables.items():
        text = plain_value(value)
        if text is None:
            reporter.add(
                Diagnostic(WRONG_VALUE, f"variable `{name}` of --vars must be a text, a number or a boolean")
            )
        else:
            found[str(name)] = text
    return found
