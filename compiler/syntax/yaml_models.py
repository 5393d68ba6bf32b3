"""Declarations in YAML: `sources:`, `models:`, `sinks:` and `seeds:`."""

from __future__ import annotations

import re
from typing import Any, Final

from compiler.diagnostics.codes import DUPLICATE_NAME, EMPTY_FILE, MISSING_KEY, WRONG_VALUE
from compiler.diagnostics.diagnostic import Label
from compiler.diagnostics.source import Span, whole_file
from compiler.syntax.ddl import refuse_secrets, valid_name
from compiler.syntax.declarations import (
    ColumnDecl,
    ModelDecl,
    OptionDecl,
    SinkDecl,
    SourceDecl,
    StepsBody,
    Text,
    WatermarkDecl,
)
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import PropertiesDecl, Scope, SeedTypesDecl, TableDecl, unique_options
from compiler.syntax.steps import step_reader
from compiler.syntax.yaml_checks import checks_not_run, of_model
from compiler.syntax.yaml_columns import ColumnReader, Columns
from compiler.syntax.yaml_nodes import Entry, YamlReader

# `version` is what dbt's files begin with; it says nothing here.
FILE_KEYS: Final = ("sources", "models", "sinks", "seeds", "version")
SOURCE_KEYS: Final = (
    "name",
    "description",
    "columns",
    "watermark",
    "primary_key",
    "partition_by",
    "with",
    "config",
    "meta",
    "tags",
    "tests",
    "data_tests",
)
GROUP_KEYS: Final = ("name", "description", "tables", "with", "config", "meta", "tags", "tests", "data_tests")
MODEL_KEYS: Final = (
    "name",
    "from",
    "steps",
    "sql",
    "with",
    "config",
    "description",
    "columns",
    "contract",
    "constraints",
    "tags",
    "meta",
    "tests",
    "data_tests",
)
CONTRACT_KEYS: Final = ("enforced", "alias_types")
SINK_KEYS: Final = (
    "name",
    "from",
    "steps",
    "sql",
    "with",
    "config",
    "description",
    "columns",
    "primary_key",
    "partition_by",
    "tags",
    "meta",
)
SEED_KEYS: Final = ("name", "description", "columns", "config", "tags", "meta", "tests", "data_tests")
SEED_CONFIG_KEYS: Final = ("column_types", "tags", "meta")

_LIKELY_NAME = re.compile(r"\bname:[ \t]*['\"]?([\w-]+)")


def read_yaml(scope: Scope) -> None:
    """Reads a YAML file into its scope."""
    reader = YamlReader(scope)
    root = reader.compose()
    if root is not None:
        _FileReader(scope, reader).read(root)
    else:
        # Nothing could be read; what looks like a name is likely to be one.
        scope.broken.update(n.lower() for n in _LIKELY_NAME.findall(scope.file.text))


class _FileReader:
    def __init__(self, scope: Scope, yaml: YamlReader) -> None:
        self.scope = scope
        self.yaml = yaml
        self.columns = ColumnReader(yaml)
        self.steps = step_reader(yaml)

    def read(self, root: Any) -> None:
        yaml = self.yaml
        if root.id != "mapping":
            yaml.wrong(
                root,
                "a YAML file of a project",
                "a mapping",
                fix="begin with `sources:`, `models:` or `sinks:`",
            )
            return
        entries = yaml.entries(root, "the file")
        known = {e.key.value: e for e in entries if e.key.value in FILE_KEYS}
        if entries and not known:
            # Some other tool's file: one message says more than one for each of its keys.
            self.scope.error(
                WRONG_VALUE,
                "this file declares nothing of a project",
                entries[0].key.span,
                cause="YAML files hold `sources:`, `models:`, `sinks:` or `seeds:`",
                fix="move the file out of the project, or into a folder whose name begins with a dot",
            )
            return
        for entry in entries:
            if entry.key.value not in FILE_KEYS:
                yaml.unknown(entry.key, "the file", FILE_KEYS)
        readers = {"sources": self._source, "models": self._model, "sinks": self._sink, "seeds": self._seed}
        declared = False
        for key, read in readers.items():
            if key not in known or yaml.is_null(known[key].node):
                continue
            declared = True
            for node in yaml.items(known[key].node, f"`{key}`"):
                read(node)
        if not declared:
            self.scope.error(EMPTY_FILE, "the file defines nothing", whole_file(self.scope.file))

    # --- parts that entries share -------------------------------------------------------------------------

    def _entry(self, node: Any, what: str, keys: tuple[str, ...]) -> tuple[Text, dict[str, Entry]] | None:
        """Name and keys of an entry; None (reported) if it has no usable name."""
        yaml = self.yaml
        entries = yaml.mapping(node, f"this {what}", keys, ("name",))
        if entries is None or "name" not in entries:
            return None
        name = yaml.text(entries["name"].node, f"the name of a {what}")
        if name is None or not valid_name(name, self.scope):
            return None
        checks_not_run(entries, f"{what} `{name.value}`", self.scope)
        return name, entries

    def _description(self, entries: dict[str, Entry]) -> str | None:
        entry = entries.get("description")
        if entry is None or self.yaml.is_null(entry.node):
            return None
        text = self.yaml.text(entry.node, "`description`")
        return text.value if text is not None else None

    def _options(self, entries: dict[str, Entry]) -> tuple[tuple[OptionDecl, ...], tuple[Text, ...]]:
        """Options and tags; `with` and `config` are two words for one thing."""
        options: list[OptionDecl] = []
        tags: list[Text] = list(self.yaml.texts(entries["tags"].node, "`tags`")) if "tags" in entries else []
        for key in ("with", "config"):
            if key not in entries:
                continue
            for option in self.yaml.options(entries[key].node, f"`{key}`"):
                if option.key.value.lower() == "tags":
                    tags.extend(Text(t, option.value.span) for t in option.value.value.split(","))
                elif option.key.value.split(".", 1)[0] != "meta":
                    options.append(option)
        options.extend(self._contract(entries))
        return unique_options(options, self.scope.error), tuple(tags)

    def _contract(self, entries: dict[str, Entry]) -> list[OptionDecl]:
        """Dbt's `contract: {enforced: true}` as an option."""
        if "contract" not in entries:
            return []
        keys = self.yaml.mapping(entries["contract"].node, "`contract`", CONTRACT_KEYS) or {}
        if "enforced" not in keys:
            return []
        value = self.yaml.text(keys["enforced"].node, "`enforced` of `contract`")
        if value is None:
            return []
        return [OptionDecl(Text("contract.enforced", keys["enforced"].key.span), value)]

    def _names(self, entries: dict[str, Entry], key: str) -> tuple[Text, ...]:
        return self.yaml.texts(entries[key].node, f"`{key}`") if key in entries else ()

    def _columns(self, entries: dict[str, Entry], what: str, *, typed: bool) -> Columns:
        if "columns" not in entries or self.yaml.is_null(entries["columns"].node):
            return Columns((), ())
        return self.columns.read(entries["columns"].node, what, typed=typed)

    def _key(self, entries: dict[str, Entry], columns: Columns) -> tuple[Text, ...]:
        names = self._names(entries, "primary_key")
        if names and columns.primary_key:
            self.scope.error(
                WRONG_VALUE,
                "the primary key is given twice",
                entries["primary_key"].key.span,
                fix="keep `primary_key:` of the whole, or that of the columns",
                related=(Label(columns.primary_key[0].span, "and for this column"),),
            )
        return names or columns.primary_key

    def _body(
        self, name: Text, entries: dict[str, Entry], node: Any, what: str
    ) -> Fragment | StepsBody | None:
        """The query or the steps; None if there are none or they cannot be read (reported)."""
        yaml = self.yaml
        if "sql" in entries:
            for key in ("from", "steps"):
                if key in entries:
                    self.scope.error(
                        WRONG_VALUE,
                        f"`sql` and `{key}` exclude each other",
                        entries[key].key.span,
                        fix="a query names its own inputs: keep one of the two",
                        related=(Label(entries["sql"].key.span, "the query is here"),),
                    )
            body = yaml.expression(entries["sql"].node, f"`sql` of `{name.value}`")
            if body is None:
                return None
            refuse_secrets(body, self.scope)
            # A statement's `;` at the end is habit.
            text = body.text.rstrip().removesuffix(";")
            return body.slice(0, len(text)).strip()
        if "from" not in entries:
            if "steps" in entries:
                self.scope.error(
                    MISSING_KEY,
                    f"{what} `{name.value}` has no `from`",
                    name.span,
                    fix="add `from:` with the name of a source or model"
                    + (", or `sql:` with a query" if "steps" not in entries else ""),
                )
            return None
        source = yaml.text(entries["from"].node, f"`from` of `{name.value}`")
        steps = self.steps.read(entries["steps"].node) if "steps" in entries else ()
        if source is None or steps is None:
            return None
        return StepsBody(yaml.relation(source), steps, yaml.span(node))

    # --- entries ------------------------------------------------------------------------------------------

    def _source(self, node: Any) -> None:
        if node.id == "mapping" and any(k.id == "scalar" and k.value == "tables" for k, _ in node.value):
            self._group(node)
        else:
            self._one_source(node)

    def _group(self, node: Any) -> None:
        yaml = self.yaml
        entries = yaml.mapping(node, "this group of sources", GROUP_KEYS, ("name",))
        if entries is None:
            return
        name = yaml.text(entries["name"].node, "the name of a group") if "name" in entries else None
        checks_not_run(entries, f"group `{name.value if name is not None else '?'}`", self.scope)
        options, tags = self._options(entries)
        for table in yaml.items(entries["tables"].node, "`tables`"):
            self._one_source(table, name.value if name is not None else None, options, tags)

    def _one_source(
        self,
        node: Any,
        group: str | None = None,
        shared: tuple[OptionDecl, ...] = (),
        shared_tags: tuple[Text, ...] = (),
    ) -> None:
        found = self._entry(node, "source", SOURCE_KEYS)
        if found is None:
            return
        name, entries = found
        columns = self._columns(entries, f"source `{name.value}`", typed=True)
        watermarks: tuple[WatermarkDecl, ...] = ()
        if "watermark" in entries:
            watermark = self.columns.watermark(entries["watermark"].node, f"the watermark of `{name.value}`")
            watermarks = (watermark,) if watermark is not None else ()
        options, tags = self._options(entries)
        own = {o.key.value.lower() for o in options}
        self.scope.sources.append(
            SourceDecl(
                name,
                columns.columns,
                watermarks,
                self._key(entries, columns),
                (*(o for o in shared if o.key.value.lower() not in own), *options),
                self.yaml.span(node),
                self._names(entries, "partition_by"),
                self._description(entries),
                group,
                (*shared_tags, *tags),
            )
        )

    def _model(self, node: Any) -> None:
        found = self._entry(node, "model", MODEL_KEYS)
        if found is None:
            return
        name, entries = found
        columns = self._columns(entries, f"model `{name.value}`", typed=False).columns
        options, tags = self._options(entries)
        description = self._description(entries)
        if "constraints" in entries:
            of_model(entries["constraints"], f"model `{name.value}`", self.yaml)
        span: Span = self.yaml.span(node)
        if not {"from", "steps", "sql"} & entries.keys():
            self.scope.properties.append(PropertiesDecl(name, options, columns, tags, description, span))
            return
        body = self._body(name, entries, node, "model")
        if body is None:
            self.scope.broken.add(name.value.lower())
            return
        self.scope.models.append(ModelDecl(name, body, options, span, columns, description, tags))

    def _sink(self, node: Any) -> None:
        found = self._entry(node, "sink", SINK_KEYS)
        if found is None:
            return
        name, entries = found
        columns = self._columns(entries, f"sink `{name.value}`", typed=False)
        options, tags = self._options(entries)
        if not {"from", "steps", "sql"} & entries.keys():
            # A sink of dead letters, unless no source names it.
            self.scope.tables.append(
                TableDecl(
                    name=name,
                    kind="sink",
                    columns=columns.columns,
                    watermarks=(),
                    primary_key=self._key(entries, columns),
                    options=options,
                    source_settings=(),
                    span=self.yaml.span(node),
                    partitioned_by=self._names(entries, "partition_by"),
                    description=self._description(entries),
                )
            )
            return
        body = self._body(name, entries, node, "sink")
        if body is None:
            self.scope.broken.add(name.value.lower())
            return
        self.scope.sinks.append(
            SinkDecl(
                name,
                body,
                columns.columns,
                self._key(entries, columns),
                self._names(entries, "partition_by"),
                options,
                self.yaml.span(node),
                self._description(entries),
                tags=tags,
                by_position=False,
            )
        )

    def _seed(self, node: Any) -> None:
        found = self._entry(node, "seed", SEED_KEYS)
        if found is None:
            return
        name, entries = found
        columns = self._seed_columns(entries, f"seed `{name.value}`")
        self.scope.seed_types.append(
            SeedTypesDecl(name, columns, self._description(entries), self.yaml.span(node))
        )

    def _seed_columns(self, entries: dict[str, Entry], what: str) -> tuple[ColumnDecl, ...]:
        """The columns of a seed; dbt gives their types in `config: {column_types: {name: TYPE}}`."""
        found = {c.name.value.lower(): c for c in self._columns(entries, what, typed=False).columns}
        if "config" not in entries or self.yaml.is_null(entries["config"].node):
            return tuple(found.values())
        config = self.yaml.mapping(entries["config"].node, f"`config` of {what}", SEED_CONFIG_KEYS) or {}
        if "column_types" in config:
            for column in self.columns.read(config["column_types"].node, what, typed=False).columns:
                other = found.get(column.name.value.lower())
                if other is not None and other.type is not None:
                    self.scope.error(
                        DUPLICATE_NAME,
                        f"the type of column `{column.name.value}` is given twice",
                        column.name.span,
                        fix="keep one of the two",
                        related=(Label(other.name.span, "and here"),),
                    )
                found[column.name.value.lower()] = column
        return tuple(found.values())
