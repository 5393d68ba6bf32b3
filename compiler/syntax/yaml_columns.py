"""`columns:` and `watermark:` of YAML entries."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct, structs

from compiler.diagnostics.codes import DUPLICATE_COLUMN, WRONG_VALUE
from compiler.diagnostics.diagnostic import Label
from compiler.syntax.declarations import ColumnDecl, Text, WatermarkDecl
from compiler.syntax.fragment import Fragment
from compiler.syntax.yaml_checks import checks_not_run, constraints
from compiler.syntax.yaml_nodes import Entry, YamlReader

COLUMN_KEYS: Final = (
    "name",
    "type",
    "data_type",
    "not_null",
    "primary_key",
    "expression",
    "as",
    "metadata",
    "virtual",
    "comment",
    "description",
    "constraints",
    "tests",
    "data_tests",
    "meta",
    "tags",
)
WATERMARK_KEYS: Final = ("on", "delay")
_TRUE: Final = {"true": True, "yes": True, "false": False, "no": False}


class Columns(Struct, frozen=True):
    """The columns of an entry, and those of them that say `primary_key: true`."""

    columns: tuple[ColumnDecl, ...]
    primary_key: tuple[Text, ...]


class ColumnReader:
    """Reads columns as a list of mappings, or as a mapping of names to types."""

    def __init__(self, yaml: YamlReader) -> None:
        self.yaml = yaml

    def read(self, node: Any, what: str, *, typed: bool) -> Columns:
        """The columns.

        Args:
            node: the value of `columns`.
            what: whose they are, for messages.
            typed: whether each needs a type or an expression.
        """
        found: list[ColumnDecl] = []
        key: list[Text] = []
        for name, entries, value in self._each(node, what):
            shown = f"column `{name.value}`"
            checks_not_run(entries, shown, self.yaml.scope)
            kinds = set(
                constraints(entries["constraints"], shown, self.yaml) if "constraints" in entries else ()
            )
            column = self._column(name, entries, value, typed=typed)
            if column is None:
                continue
            other = next((c for c in found if c.name.value.lower() == name.value.lower()), None)
            if other is not None:
                self.yaml.scope.error(
                    DUPLICATE_COLUMN,
                    f"{what} has two columns `{name.value}`",
                    name.span,
                    fix="rename one of the two",
                    related=(Label(other.name.span, "the first is here"),),
                )
                continue
            if kinds:
                column = structs.replace(column, not_null=True)
            found.append(column)
            if self._flag(entries, "primary_key") or "primary_key" in kinds:
                key.append(name)
        return Columns(tuple(found), tuple(key))

    def _each(self, node: Any, what: str) -> list[tuple[Text, dict[str, Entry], Any]]:
        """Name, keys and (in a mapping `name: type`) the type's node of each column."""
        yaml = self.yaml
        found: list[tuple[Text, dict[str, Entry], Any]] = []
        if node.id == "mapping":
            for entry in yaml.entries(node, f"`columns` of {what}"):
                if entry.node.id == "mapping":
                    keys = yaml.mapping(entry.node, f"column `{entry.key.value}`", COLUMN_KEYS) or {}
                    found.append((entry.key, keys, None))
                else:
                    found.append((entry.key, {}, entry.node))
            return found
        if node.id != "sequence":
            yaml.wrong(node, f"`columns` of {what}", "a mapping or a list", fix="write `name: TYPE` lines")
            return []
        for item in node.value:
            # `- total: DECIMAL(10, 2)`: one pair is a name and its type.
            if item.id == "mapping" and len(item.value) == 1 and item.value[0][0].value not in COLUMN_KEYS:
                found.extend(self._each(item, what))
                continue
            keys = yaml.mapping(item, "this column", COLUMN_KEYS, ("name",)) or {}
            name = yaml.text(keys["name"].node, "the name of a column") if "name" in keys else None
            if name is not None:
                found.append((name, keys, None))
        return found

    def _flag(self, entries: dict[str, Entry], key: str) -> bool:
        if key not in entries:
            return False
        text = self.yaml.text(entries[key].node, f"`{key}`")
        if text is None:
            return False
        if text.value.lower() not in _TRUE:
            self.yaml.scope.error(WRONG_VALUE, f"`{key}` must be true or false", text.span)
            return False
        return _TRUE[text.value.lower()]

    def _column(self, name: Text, keys: dict[str, Entry], value: Any, *, typed: bool) -> ColumnDecl | None:
        yaml = self.yaml
        what = f"column `{name.value}`"
        type_: Fragment | None = None
        not_null = self._flag(keys, "not_null")
        type_node = value
        for key in ("type", "data_type"):
            if key in keys:
                type_node = keys[key].node
        if type_node is not None and not (not typed and yaml.is_null(type_node)):
            type_ = yaml.expression(type_node, f"the type of {what}")
            if type_ is None:
                return None
            # `STRING NOT NULL`, as in SQL.
            upper = type_.text.upper()
            if upper.endswith(" NOT NULL"):
                not_null = True
                type_ = type_.slice(0, len(type_.text) - len(" NOT NULL")).strip()
        expression: Fragment | None = None
        for key in ("expression", "as"):
            if key in keys:
                expression = yaml.expression(keys[key].node, f"the expression of {what}")
                if expression is None:
                    return None
        metadata = self._metadata(name, keys)
        if typed and type_ is None and expression is None:
            yaml.scope.error(
                WRONG_VALUE,
                f"{what} has no type",
                name.span,
                fix=f"write `{name.value}: STRING`, or `{name.value}: {{as: …}}` for a computed column",
            )
            return None
        comment = None
        for key in ("comment", "description"):
            if key in keys and not yaml.is_null(keys[key].node):
                text = yaml.text(keys[key].node, f"`{key}`")
                comment = text.value if text is not None else None
        return ColumnDecl(name, type_, not_null, expression, metadata, self._flag(keys, "virtual"), comment)

    def _metadata(self, name: Text, keys: dict[str, Entry]) -> Text | None:
        if "metadata" not in keys:
            return None
        yaml = self.yaml
        text = yaml.text(keys["metadata"].node, f"`metadata` of column `{name.value}`")
        return name if text is not None and text.value.lower() == "true" else text

    def watermark(self, node: Any, what: str) -> WatermarkDecl | None:
        """`{on: column, delay: 5 seconds}`; the delay may be left out."""
        yaml = self.yaml
        keys = yaml.mapping(node, what, WATERMARK_KEYS, ("on",))
        if keys is None or "on" not in keys:
            return None
        column = yaml.text(keys["on"].node, f"`on` of {what}")
        delay = yaml.duration(keys["delay"].node, f"`delay` of {what}") if "delay" in keys else None
        if column is None:
            return None
        if delay is None:
            delay = Text("0 s", column.span)
        return WatermarkDecl(column, None, delay, yaml.span(node))
