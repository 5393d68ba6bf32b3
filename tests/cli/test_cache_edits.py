"""Whatever is done to a project between two compiles, the record never shows in what comes out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remembered import compiled, fresh, told, was_parted

# Three parts: two share a seed, one is of tables; models of either front end, in files of their own and not.
PROJECT = {
    "headrace.yml": "name: edits\nvars: {least: 5}\n",
    "seeds/codes.csv": "code,label\n1,one\n2,two\n",
    "sources/orders.sql": """\
CREATE SOURCE orders (
  id BIGINT NOT NULL, price DOUBLE, code BIGINT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'filesystem', path = 'orders', format = 'csv');
""",
    "sources/visits.yml": """\
sources:
  - name: web
    tables:
      - name: visits
        columns: {id: BIGINT, page: STRING, ts: TIMESTAMP(3)}
        with: {connector: filesystem, path: visits, format: json}
""",
    "models/big.sql": "SELECT id, price, code, ts\nFROM orders\nWHERE price > ${least}\n",
    "models/labelled.sql": """\
CREATE MODEL labelled AS
  SELECT b.id, b.price, b.ts, c.label FROM big AS b LEFT JOIN codes AS c ON b.code = c.code;
CREATE MODEL cheap AS SELECT id, price FROM labelled WHERE price < 10;
""",
    "models/hourly.yml": """\
models:
  - name: hourly
    from: big
    steps:
      - window: {tumble: {on: ts, size: 1 hour}}
      - aggregate: {by: [code], n: count(*), spent: sum(price)}
  - name: big
    description: Orders that count.
    columns: {price: {type: DOUBLE}}
""",
    "models/pages.sql": "SELECT page, id, ts FROM {{ source('web', 'visits') }}\n",
    "models/views.yml": """\
models:
  - name: views
    from: pages
    steps:
      - join: {seed: codes, on: id = code}
      - filter: page <> ''
      - select: [page, label]
""",
    "models/spare.sql": "-- headrace: allow HR219\nSELECT id FROM orders\n",
    "sinks/outs.sql": """\
CREATE SINK labels WITH (connector = 'filesystem', path = 'out/labels', format = 'json')
  AS SELECT id, label FROM labelled;
CREATE SINK cheap_out WITH (connector = 'filesystem', path = 'out/cheap', format = 'json')
  AS SELECT * FROM cheap;
CREATE SINK hours WITH (connector = 'filesystem', path = 'out/hours', format = 'json')
  AS SELECT * FROM hourly;
""",
    "sinks/views.sql": """\
CREATE SINK seen WITH (connector = 'filesystem', path = 'out/seen', format = 'json') AS SELECT * FROM views;
""",
    "tables/in.sql": """\
CREATE TABLE ticks (n BIGINT, at_time TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'ticks',
  'format' = 'json');
CREATE TABLE tocks WITH ('path' = 'tocks') LIKE ticks;
""",
    "tables/view.sql": "CREATE VIEW even AS SELECT n FROM ticks WHERE n % 2 = 0;\n",
    "tables/insert.sql": "INSERT INTO tocks SELECT n, CAST(NULL AS TIMESTAMP(3)) FROM even;\n",
}

# What can be done, and undone: a file, and a text in it with what comes in its place. No text: the file goes.
FLIPS: tuple[tuple[str, str, str], ...] = (
    ("models/big.sql", "price >", "price >="),
    ("models/big.sql", "price,", "price AS cost,"),
    ("models/big.sql", "SELECT", "SELEC"),
    ("models/big.sql", "SELECT", "-- why\nSELECT"),
    ("models/big.sql", "code, ts", "code, ts, uuid() AS key"),
    ("models/big.sql", "${least}", "${leest}"),
    ("models/big.sql", "${least}", "3"),
    ("models/big.sql", "FROM orders", "FROM visits"),
    ("models/big.sql", "", ""),
    ("models/labelled.sql", "< 10", "< 10 AND nothing"),
    ("models/labelled.sql", "< 10", "< 20"),
    ("models/labelled.sql", "MODEL cheap AS", "MODEL cheap WITH (state_ttl = '1 d') AS"),
    ("models/labelled.sql", "FROM labelled", "FROM hourly"),
    ("models/labelled.sql", "FROM big", "FROM cheap"),
    ("models/labelled.sql", "LEFT JOIN", "JOIN"),
    ("models/labelled.sql", "", ""),
    ("models/hourly.yml", "1 hour", "2 hours"),
    ("models/hourly.yml", "aggregate", "agregate"),
    ("models/hourly.yml", "DOUBLE", "BIGINT"),
    ("models/hourly.yml", "Orders that count.", "Orders."),
    ("models/hourly.yml", "name: hourly", "name: Hourly"),
    ("models/hourly.yml", "- aggregate", "# headrace: allow HR219\n      - aggregate"),
    ("models/pages.sql", "'visits'", "'visit'"),
    ("models/pages.sql", "page, id", "lower(page) AS page, id"),
    ("models/pages.sql", "page, id", "page, id, count(*)"),
    ("models/views.yml", "page <> ''", "page <> 'x'"),
    ("models/views.yml", "[page, label]", "[page, label, {at: ts}]"),
    ("models/views.yml", "from: pages", "from: big"),
    ("models/views.yml", "join:", "join :"),
    ("models/spare.sql", "allow HR219", "allow HR310"),
    ("models/spare.sql", "allow", "alow"),
    ("models/spare.sql", "FROM orders\n", "FROM orders\n-- and no more\n"),
    ("models/spare.sql", "", ""),
    ("sources/orders.sql", "'5' SECOND", "'6' SECOND"),
    ("sources/orders.sql", "price DOUBLE", "price STRING"),
    ("sources/visits.yml", "page: STRING", "page: STRING, zone: STRING"),
    ("sinks/outs.sql", "id, label", "label, id"),
    ("sinks/outs.sql", "FROM cheap;", "FROM chip;"),
    ("sinks/views.sql", "out/seen", "out/labels"),
    ("tables/view.sql", "= 0", "= 1"),
    ("tables/view.sql", "FROM ticks", "FROM tocks"),
    ("tables/insert.sql", "NULL", "'2020-01-01 00:00:00'"),
    ("tables/in.sql", "n BIGINT", "n INT"),
    ("seeds/codes.csv", "two", "three"),
    ("seeds/codes.csv", "2,", "x,"),
    ("headrace.yml", "5", "6"),
    ("headrace.yml", "edits\n", "edits\nwarn_as_error: [HR219]\n"),
    ("models/more.sql", "", "SELECT id FROM big\n"),
    ("models/again.sql", "", "CREATE MODEL spare AS SELECT id FROM orders;\n"),
)


def lay_out(root: Path, flipped: Iterable[int]) -> None:
    """Writes the project with some of its changes made."""
    files = dict(PROJECT)
    for name, old, new in (FLIPS[number] for number in sorted(flipped)):
        if old:
            files[name] = files[name].replace(old, new) if name in files else ""
        elif new:
            files[name] = new
        else:
            files.pop(name)
    files = {name: text for name, text in files.items() if text}
    for path in [p for p in root.rglob("*") if p.is_file() and "target" not in p.parts]:
        if path.relative_to(root).as_posix() not in files:
            path.unlink()
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_the_project_has_no_mistakes(tmp_path: Path) -> None:
    lay_out(tmp_path, ())
    assert [d.code.name for d in compiled(tmp_path).diagnostics] == []


@pytest.mark.parametrize("number", range(len(FLIPS)), ids=lambda n: " ".join(FLIPS[n]))
def test_a_change_is_made_and_undone(tmp_path: Path, number: int) -> None:
    for flipped in ((), (number,), ()):
        lay_out(tmp_path, flipped)
        assert told(compiled(tmp_path)) == told(fresh(tmp_path))


def test_parts_are_compiled_alone(tmp_path: Path) -> None:
    lay_out(tmp_path, ())
    compiled(tmp_path)
    alone = (
        ("models/labelled.sql", "< 10", "< 20"),
        ("models/pages.sql", "page, id", "lower(page) AS page, id"),
        ("models/views.yml", "page <> ''", "page <> 'x'"),
        ("models/spare.sql", "FROM orders\n", "FROM orders\n-- and no more\n"),
        ("tables/view.sql", "= 0", "= 1"),
    )
    for flip in alone:
        lay_out(tmp_path, (FLIPS.index(flip),))
        assert was_parted(compiled(tmp_path)), flip
        lay_out(tmp_path, ())
        compiled(tmp_path)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, len(FLIPS) - 1), min_size=1, max_size=2), min_size=2, max_size=6))
def test_random_sequences_of_changes(steps: list[list[int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, flipped = Path(folder).resolve(), set[int]()
        lay_out(root, flipped)
        compiled(root)
        for step in steps:
            flipped.symmetric_difference_update(step)
            lay_out(root, flipped)
            assert told(compiled(root)) == told(fresh(root))
