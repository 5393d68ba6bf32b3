"""A remembered compile cannot be told from a fresh one, and is used only if nothing has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protobuf_types import DESCRIPTORS
from remembered import RECORD, compiled, fresh, same, told, was_recalled
from shop import SHOP, Invoke, Write

from bench.projects import make_project
from runtime.cli.cache import recall
from runtime.cli.cache.inputs import gather


@pytest.fixture
def warm(write: Write) -> Path:
    """A project with warnings, an `allow` and a variable of the environment, compiled once."""
    os.environ["SHOP_STATE"] = ".headrace/one"
    root = write(
        {
            "headrace.yml": SHOP["headrace.yml"].replace(
                "dev: {parallelism: 2}", "dev: {parallelism: 2, state: '${env:SHOP_STATE}'}"
            ),
            "models/unused.sql": "SELECT id FROM orders\n",
            "models/spare.sql": "-- headrace: allow HR219\nSELECT id FROM orders\n",
            "seeds/codes.csv": "code,name\n1,one\n",
        }
    )
    assert not was_recalled(compiled(root))
    return root


def test_nothing_has_changed(warm: Path) -> None:
    recalled = compiled(warm)
    assert was_recalled(recalled)
    assert told(recalled) == told(fresh(warm))
    assert [d.code.name for d in recalled.diagnostics] == ["HR219"]


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new))

    return change


def move(name: str, to: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / name).rename(root / to)

    return change


def put(name: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    return change


CHANGES: dict[str, Callable[[Path], None]] = {
    "a model": edit("models/big.sql", "price >", "price >="),
    "a mistake": edit("models/big.sql", "price,", "prise,"),
    "a comment": edit("models/big.sql", "SELECT", "-- more\nSELECT"),
    "a comment that silences": edit("models/unused.sql", "SELECT", "-- headrace: allow HR219\nSELECT"),
    "the project": edit("headrace.yml", "min_price: 5", "min_price: 6"),
    "a new file": put("models/more.sql", "SELECT id FROM big"),
    "a new seed": put("seeds/more.csv", "a,b\n1,2\n"),
    "rows of a seed": put("seeds/codes.csv", "code,name\nx,one\n"),
    "a file that is gone": lambda root: (root / "models/spare.sql").unlink(),
    "a file with another name": move("models/spare.sql", "models/other.sql"),
    "a function": put("functions/f.py", "def f(x): return x\n"),
    "the environment": lambda _: os.environ.__setitem__("SHOP_STATE", ".headrace/two"),
    "the state root": put(".headrace/one/manifest.json", '{"version": 1, "project": "shop"}'),
    "a broken state root": put(".headrace/one/manifest.json", "{"),
    "a project below": put("models/headrace.yml", "name: inner\n"),
    "the other name of the project file": move("headrace.yml", "headrace.yaml"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_seen(warm: Path, what: str) -> None:
    CHANGES[what](warm)
    pipeline = compiled(warm)
    assert not was_recalled(pipeline)
    assert told(pipeline) == told(fresh(warm))
    # What was made of the change is remembered, unless a finding lies outside of the project's files.
    again = compiled(warm)
    assert told(again) == told(pipeline)


def test_a_file_that_an_option_names_has_changed(warm: Path) -> None:
    """Descriptors may lie anywhere, so only the compile finds out that it reads them."""
    put(
        "models/sales.sql",
        "CREATE SOURCE sales (id BIGINT) WITH (connector = 'kafka', topic = 'sales', "
        "'properties.bootstrap.servers' = 'kafka:9092', format = 'protobuf', "
        "'protobuf.descriptor' = '../sales.desc', 'protobuf.message-name' = 'shop.Sale');\n"
        "CREATE SINK kept WITH (connector = 'filesystem', path = 'kept', format = 'json')"
        " AS SELECT * FROM sales",
    )(warm)
    file = warm.parent / "sales.desc"
    for content in (None, DESCRIPTORS, b"", DESCRIPTORS):
        if content is not None:
            file.write_bytes(content)
        pipeline = compiled(warm)
        assert not was_recalled(pipeline)
        assert told(pipeline) == told(fresh(warm))
        assert (pipeline.plan is not None) == (content == DESCRIPTORS)
        assert was_recalled(compiled(warm)) == (content == DESCRIPTORS)
    # A model that changes is compiled with all that it is beside.
    put("models/big.sql", (warm / "models/big.sql").read_text() + " -- more\n")(warm)
    same(warm)


def test_target_variables_and_raised_warnings(warm: Path) -> None:
    assert was_recalled(compiled(warm))
    for given_now in ({"target": "prod"}, {"min_price": "7"}, {"min_price": 7}, {"raises": "all"}):
        same(warm, **given_now)
        same(warm, **given_now)
    same(warm)


def test_raised_warnings_do_not_spoil_the_record(warm: Path) -> None:
    (warm / RECORD).unlink()
    assert compiled(warm, raises="HR219").plan is None
    assert compiled(warm).plan is not None


@pytest.mark.parametrize("damage", ["empty", "cut", "garbage", "other form", "bit"])
def test_a_damaged_record_is_made_anew(warm: Path, damage: str) -> None:
    content = (warm / RECORD).read_bytes()
    at = len(content) // 2
    damaged = {
        "empty": b"",
        "cut": content[:at],
        "garbage": os.urandom(300),
        "other form": b"{}",
        "bit": content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :],
    }[damage]
    (warm / RECORD).write_bytes(damaged)
    pipeline = compiled(warm)
    assert not was_recalled(pipeline)
    assert told(pipeline) == told(fresh(warm))
    assert was_recalled(compiled(warm))


def test_a_record_that_cannot_be_written_is_no_error(warm: Path) -> None:
    (warm / RECORD).unlink()
    (warm / RECORD).parent.rmdir()
    (warm / RECORD).parent.write_text("in the way")
    assert compiled(warm).plan is not None


def test_no_secret_is_kept(warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_ZONE", "hunter2-zone")
    compiled(warm, password="hunter2-variable")
    put("headrace.yml", (warm / "headrace.yml").read_text() + "timezone: '${env:SHOP_ZONE}'\n")(warm)
    found = compiled(warm, password="hunter2-variable").diagnostics
    assert any("`hunter2-zone`" in d.message for d in found)
    kept = (warm / RECORD).read_bytes()
    assert b"SHOP_STATE" in kept
    assert b"hunter2" not in kept


def test_all_that_a_compile_opens_is_in_its_inputs(warm: Path) -> None:
    inputs = gather(warm, None, {})
    assert inputs is not None
    opened: set[str] = set()
    watching = [True]

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching and event == "open" and isinstance(args[0], str | os.PathLike):
            path = os.path.abspath(os.fspath(args[0]))
            if path.startswith(f"{warm}{os.sep}"):
                opened.add(os.path.relpath(path, warm))

    sys.addaudithook(watch)  # it cannot be taken away
    try:
        fresh(warm)
    finally:
        watching.clear()
    assert opened
    assert opened <= {*inputs.contents, ".headrace/one/manifest.json"}


def test_commands_that_write_nothing_use_the_record(
    invoke: Invoke, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = invoke("list").stdout
    assert not (shop / "target").exists()
    first = invoke("compile")
    plan = (shop / "target/job_plan.json").read_text()
    (shop / "target/job_plan.json").unlink()
    monkeypatch.setattr("runtime.cli.cache.recall.read", None)
    assert invoke("compile").output == first.output
    assert (shop / "target/job_plan.json").read_text() == plan
    assert invoke("list").stdout == listed
    assert "query counts" in invoke("explain", "-s", "counts").stdout


def test_a_changed_model_compiles_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "bench"
    make_project(root, 60)
    compiled(root)
    whole: list[Path] = []
    compile_whole = recall._compile_whole

    def counted(*given: Any) -> Any:
        whole.append(root)
        return compile_whole(*given)

    monkeypatch.setattr(recall, "_compile_whole", counted)
    changes = [
        ("clean_0", "price >", "price >="),
        ("clean_0", "SELECT", "-- more\nSELECT"),
        ("united_3", "FROM flagged_3", "FROM flagged_2"),  # two parts become one
        ("report_3", "events > 0", "events > 1"),
        ("united_3", "FROM flagged_2", "FROM flagged_3"),
        ("hourly_1", "count(*)", "count(DISTINCT region)"),
    ]
    for name, old, new in changes:
        model = next((root / "models").rglob(f"{name}.*"))
        assert old in model.read_text()
        model.write_text(model.read_text().replace(old, new))
        pipeline = compiled(root)
        assert told(pipeline) == told(fresh(root)), name
        assert told(compiled(root)) == told(pipeline)
    # Only where a model begins to read another part is all of it compiled.
    assert len(whole) <= 2


TEXTS = st.sampled_from(
    ["", " ", "-- x\n", "price", "id", "big", ",", "SELECT", "'", "1", "prise", ";", "\n"]
)
EDITS = st.lists(
    st.tuples(st.sampled_from([n for n in SHOP if n != "headrace.yml"]), st.floats(0, 1), TEXTS), max_size=3
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(EDITS, min_size=1, max_size=3))
def test_random_edits(warm: Path, steps: list[list[tuple[str, float, str]]]) -> None:
    for name, text in SHOP.items():
        (warm / name).write_text(text)
    for edits in steps:
        for name, where, text in edits:
            old = (warm / name).read_text()
            at = int(where * len(old))
            (warm / name).write_text(old[:at] + text + old[at:])
        same(warm)
