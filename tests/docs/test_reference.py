"""The reference names every connector, option and key that the code knows; its table is generated."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

from compiler.analysis.model_options import OPTIONS
from compiler.connectors import CONNECTORS, Option
from compiler.functions.flink import DIFFERS, NOT_RUN, REWRITES, SAME
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
    head, rule, rest = PAGE.read_text(encoding="utf-8").partition(
        "| connector | as | options |\n|---|---|---|\n"
    )
    _, _, after = rest.partition("\n\n")
    golden(PAGE, head + rule + "\n".join(rows()) + "\n\n" + after)


def test_keys_of_the_project_file() -> None:
    block = PAGE.read_text(encoding="utf-8").split("```")[1]
    for key in (*TARGET_KEYS, *DEFAULT_KEYS, "name", "version", "timezone", "default_target", "targets"):
        assert f"{key}:" in block, key


def _between(text: str, start: str, lines: list[str]) -> str:
    """The page with the lines between a mark and the next `<!-- end -->` replaced."""
    head, mark, rest = text.partition(start)
    assert mark, start
    _, end, after = rest.partition("<!-- end -->")
    return head + mark + "".join(f"{line}\n" for line in lines) + end + after


def test_flink_functions(golden: Callable[[Path, str], None]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    same = [name for name in SAME if name not in DIFFERS]
    page = _between(page, "<!-- same -->\n", textwrap.wrap(", ".join(f"`{name}`" for name in same), 110))
    rewritten: dict[str, tuple[str, str]] = {name: ("Spark's", text) for name, text in DIFFERS.items()}
    for name, forms in REWRITES.items():
        own = f"{rewritten[name][1]}; " if name in rewritten else ""
        said = "; ".join(dict.fromkeys(form.differs for form in forms if form.differs))
        shown = forms[0].sql if isinstance(forms[0].sql, str) else None
        short = shown is not None and len(shown) <= 60 and len(forms) == 1
        rewritten[name] = (
            f"`{shown.replace('*args', '…')}`" if shown and short else "rewritten",
            own.removesuffix("; ") or said,
        )
    lines = [
        f"| `{name}` | {here} | {other} |".replace("  ", " ")
        for name, (here, other) in sorted(rewritten.items())
    ]
    page = _between(page, "| function | here | other than in Flink |\n|---|---|---|\n", lines)
    lines = [f"| `{one.name}` | {one.reason} | {one.fix} |" for one in NOT_RUN.values()]
    page = _between(page, "| function | because | instead |\n|---|---|---|\n", lines)
    golden(PAGE, page)


def test_options_of_models_and_metadata_keys() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = text.partition("| option | of | says |\n|---|---|---|\n")[2].partition("\n\n")[0].splitlines()
    told = {
        name: row.split("|")[2].strip().split(", ")
        for row in rows
        for name in re.findall(r"`([\w.]+)`", row.split("|")[1])
    }
    assert told == {name: list(can_have) for name, (_, can_have) in OPTIONS.items()}
    for connector in CONNECTORS:
        for metadata in connector.metadata:
            assert f"`{metadata.key}`" in text
