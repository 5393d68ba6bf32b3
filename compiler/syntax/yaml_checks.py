"""dbt's tests and constraints: what of them holds here, and what does not run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from compiler.diagnostics.codes import CHECKS_NOT_RUN, WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.syntax.parsed import Scope
from compiler.syntax.yaml_nodes import Entry, YamlReader

# dbt's kinds of constraints; the first two mean something to a stream.
CONSTRAINTS: Final = ("not_null", "primary_key", "unique", "foreign_key", "check", "custom")
CONSTRAINT_KEYS: Final = (
    "type",
    "columns",
    "expression",
    "name",
    "to",
    "to_columns",
    "warn_unenforced",
    "warn_unsupported",
)


def checks_not_run(entries: dict[str, Entry], what: str, scope: Scope) -> None:
    """HR112 for `tests` and `data_tests`."""
    for key in ("tests", "data_tests"):
        if key in entries:
            _not_run(f"`{key}` of {what} do not run", entries[key].key.span, scope)


def constraints(entry: Entry, what: str, yaml: YamlReader) -> Iterator[str]:
    """The kinds of constraints that hold here; HR112 for those that are not checked."""
    for node in yaml.items(entry.node, f"`constraints` of {what}"):
        keys = yaml.mapping(node, "this constraint", CONSTRAINT_KEYS, ("type",)) or {}
        text = yaml.text(keys["type"].node, "`type` of a constraint") if "type" in keys else None
        if text is None:
            continue
        if text.value in CONSTRAINTS[:2]:
            yield text.value
        elif text.value in CONSTRAINTS:
            _not_run(f"constraint `{text.value}` of {what} is not checked", text.span, yaml.scope)
        else:
            yaml.scope.error(
                WRONG_VALUE,
                f"unknown constraint `{text.value}`",
                text.span,
                cause=f"known are {one_of(CONSTRAINTS)}",
                fix=did_you_mean(text.value, CONSTRAINTS),
            )


def of_model(entry: Entry, what: str, yaml: YamlReader) -> None:
    """HR112 for the constraints of a model: what holds for a column is said with the column."""
    for kind in constraints(entry, what, yaml):
        _not_run(f"constraint `{kind}` of {what} is read at its columns only", entry.key.span, yaml.scope)


def _not_run(message: str, span: Span, scope: Scope) -> None:
    scope.error(
        CHECKS_NOT_RUN,
        message,
        span,
        cause="a stream is never whole, so there is no table on which to run a test",
        fix="declare types and `not_null`, which are checked; `contract: {enforced: true}` asks for all",
    )
