"""The JSON Schemas of YAML files know what the reader knows, and every YAML file that we show fits them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.diagnostics.diagnostic import Reporter
from compiler.project import config, findings
from compiler.project.load import load_project
from compiler.project.schema import KINDS, schema_of, schema_text
from compiler.syntax import yaml_checks, yaml_columns, yaml_models
from compiler.syntax.steps import READERS
from compiler.syntax.yaml_nodes import Entry, YamlReader
from runtime.cli.template import files

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "pipelines" / "schemas"
Schema = dict[str, Any]


# --- a validator of as much of JSON Schema as the schemas use ---------------------------------------------


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "object": dict,
        "array": list,
        "null": type(None),
        "boolean": bool,
    }
    return isinstance(value, kinds[kind])


def problems(value: Any, schema: Schema, whole: Schema, at: str = "") -> Iterator[str]:
    """What of a value does not fit a schema."""
    if "$ref" in schema:
        yield from problems(value, whole["$defs"][schema["$ref"].rsplit("/", 1)[-1]], whole, at)
        return
    if "anyOf" in schema:
        found = [list(problems(value, one, whole, at)) for one in schema["anyOf"]]
        if all(found):
            yield from min(found, key=len)
    if "type" in schema:
        kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        if not any(_is(value, kind) for kind in kinds):
            yield f"{at}: {value!r} is no {' or '.join(kinds)}"
            return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not in {schema['enum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{at}: {value!r} does not match"
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), whole, f"{at}[{index}]")
    if isinstance(value, dict):
        yield from _of_mapping(value, schema, whole, at)


def _of_mapping(value: dict[str, Any], schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{at}: {len(value)} keys"
    yield from (f"{at}: no `{key}`" for key in schema.get("required", ()) if key not in value)
    for key, inner in value.items():
        known = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
        if known is False:
            yield f"{at}: unknown key `{key}`"
        elif known is not True:
            yield from problems(inner, known, whole, f"{at}.{key}")


# --- YAML as editors read it ------------------------------------------------------------------------------


def plain(node: Any) -> Any:
    """A node as YAML 1.2 reads it: `on` is a text."""
    if node.id == "mapping":
        return {key.value: plain(value) for key, value in node.value}
    if node.id == "sequence":
        return [plain(item) for item in node.value]
    text = node.value
    if node.style in ("'", '"', "|", ">"):
        return text
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def read(text: str) -> Any:
    return plain(yaml.compose(text, Loader=yaml.SafeLoader))


def kind_of(path: Path) -> str:
    return "project" if path.name == "headrace.yml" else "resources"


def examples() -> Iterable[tuple[str, str, str]]:
    """Name, kind and text of the YAML files that we show."""
    shown = [*(ROOT / "pipelines").rglob("*.yml"), *(ROOT / "tests/cases").glob("*/pipeline.yml")]
    shown += (p for p in (ROOT / "tests/compiler/plans").rglob("*.yml") if not p.name.startswith("wrong_"))
    shown += (ROOT / "tests/compiler/data/yaml").glob("*.yml")
    shown += (ROOT / "tests/docs/_base").rglob("*.yml")
    for path in sorted(shown):
        yield str(path.relative_to(ROOT)), kind_of(path), path.read_text(encoding="utf-8")
    for name, text in files("demo").items():
        if name.endswith(".yml"):
            yield f"init:{name}", kind_of(Path(name)), text
    for page in sorted((ROOT / "docs/diagnostics").glob("*.md")):
        right = page.read_text(encoding="utf-8").partition("## Right")[2]
        for name, text in re.findall(r"^```yaml (\S+)\n(.*?)^```$", right, re.DOTALL | re.MULTILINE):
            yield f"{page.name}:{name}", kind_of(Path(name)), text


def is_of_this_version(name: str) -> bool:
    """Whether an example has no connector that only later versions have."""
    return not name.startswith("tests/compiler/data/yaml")


FITTING = [example for example in examples() if is_of_this_version(example[0])]


@pytest.mark.parametrize(("name", "kind", "text"), FITTING, ids=[example[0] for example in FITTING])
def test_examples_fit(name: str, kind: str, text: str) -> None:
    schema = schema_of(kind)
    if text.strip():
        assert list(problems(read(text), schema, schema, name)) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("resources", "model: []"),
        ("resources", "models: [{nme: x}]"),
        ("resources", "models: [{name: x, with: {triger: 5 s}}]"),
        ("resources", "models: [{name: x, from: y, steps: [{fliter: a}]}]"),
        ("resources", "models: [{name: x, from: y, steps: [{filter: a, select: [b]}]}]"),
        ("resources", "models: [{name: x, from: y, steps: [{window: {tumble: {on: a, sise: 1 s}}}]}]"),
        ("resources", "models: [{name: x, columns: [{name: a, typ: INT}]}]"),
        ("resources", "models: [{name: x, contract: {enforce: true}}]"),
        ("resources", "sources: [{name: x, with: {connector: filesystm}}]"),
        ("resources", "sources: [{name: x, watermark: {delay: 5 s}}]"),
        ("resources", "sources: [{name: g, tables: [{nam: x}]}]"),
        ("project", "version: 1"),
        ("project", "name: x\ntargets: {dev: {masters: local}}"),
        ("project", "name: x\ndefaults: {on_end: stop}"),
    ],
)
def test_mistakes_do_not(kind: str, text: str) -> None:
    schema = schema_of(kind)
    assert list(problems(read(text), schema, schema))


def key_sets(schema: object) -> Iterator[frozenset[str]]:
    """The keys of every mapping that a schema knows."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield frozenset(schema["properties"])
        for inner in schema.values():
            yield from key_sets(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from key_sets(inner)


def test_tables_of_keys_are_in_the_schemas() -> None:
    known = {kind: set(key_sets(schema_of(kind))) for kind in KINDS}
    tables = {
        "project": (config.KEYS, config.TARGET_KEYS, config.DEFAULT_KEYS, findings.KEYS),
        "resources": (
            yaml_models.FILE_KEYS,
            yaml_models.SOURCE_KEYS,
            yaml_models.GROUP_KEYS,
            yaml_models.MODEL_KEYS,
            yaml_models.SINK_KEYS,
            yaml_models.SEED_KEYS,
            yaml_models.SEED_CONFIG_KEYS,
            yaml_models.CONTRACT_KEYS,
            yaml_columns.COLUMN_KEYS,
            yaml_columns.WATERMARK_KEYS,
            yaml_checks.CONSTRAINT_KEYS,
            READERS,
        ),
    }
    for kind, keys in tables.items():
        assert [table for table in keys if frozenset(table) not in known[kind]] == []


def test_what_the_reader_asks_for_is_in_the_schemas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever table of keys a reader has, it is asked while it reads our examples."""
    asked: set[frozenset[str]] = set()
    mapping = YamlReader.mapping

    def listening(
        self: YamlReader, node: Any, what: str, allowed: Collection[str], required: Iterable[str] = ()
    ) -> dict[str, Entry] | None:
        asked.add(frozenset(allowed))
        return mapping(self, node, what, allowed, required)

    monkeypatch.setattr(YamlReader, "mapping", listening)
    for number, (_, kind, text) in enumerate(examples()):
        root = tmp_path / str(number)
        root.mkdir()
        (root / "headrace.yml").write_text(text if kind == "project" else "name: x", encoding="utf-8")
        if kind == "resources":
            (root / "r.yml").write_text(text, encoding="utf-8")
        load_project(root, reporter=Reporter(), environment={})
    known = [keys for kind in KINDS for keys in key_sets(schema_of(kind))]
    assert len(asked) > 10
    assert [sorted(keys) for keys in asked if not any(keys <= other for other in known)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_the_pipelines(kind: str, golden: Callable[[Path, str], None]) -> None:
    golden(SCHEMAS / f"{kind}.json", schema_text(kind))


def test_yaml_files_name_their_schema(tmp_path: Path) -> None:
    for name, text in files("demo").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = [*(ROOT / "pipelines").rglob("*.yml"), *tmp_path.rglob("*.yml")]
    assert len(shown) >= 7
    for path in shown:
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
        assert named is not None, f"{path} does not begin with the line that names its schema"
        schema = (path.parent / named.group(1)).resolve()
        assert schema.name == f"{kind_of(path)}.json"
        assert schema.is_file()
