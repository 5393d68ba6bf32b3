"""The reference names every connector, option and key that the code knows; its table is generated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from compiler.connectors import CONNECTORS, Option
from compiler.project.config import DEFAULT_KEYS, TARGET_KEYS

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"


def shown(option: Option) -> str:
    """An option as the table has it."""
    kind = " / ".join(option.choices) if option.choices else option.kind
    return f"`{option.name}` ({kind}{', required' if option.required else ''})"


def rows() -> list[str]:
    """The lines of the table of connectors."""
    return [
        f"| {connector.name} | {role} | {', '.join(map(shown, options)) or 'none'} |"
        for connector in CONNECTORS
        for role, options in (("source", connector.source), ("sink", connector.sink))
        if options is not None
    ]


def test_connectors(golden: Callable[[Path, str], None]) -> None:
    head, rule, rest = PAGE.read_text(encoding="utf-8").partition("|---|---|---|\n")
    _, _, after = rest.partition("\n\n")
    golden(PAGE, head + rule + "\n".join(rows()) + "\n\n" + after)


def test_keys_of_the_project_file() -> None:
    block = PAGE.read_text(encoding="utf-8").split("```")[1]
    for key in (*TARGET_KEYS, *DEFAULT_KEYS, "name", "version", "timezone", "default_target", "targets"):
        assert f"{key}:" in block, key
