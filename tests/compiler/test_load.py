"""Loading projects and scripts from disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from declaration_text import declaration_text

from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.project.files import find_root
from compiler.project.load import load_project, load_script
from compiler.project.seeds import guess
from compiler.syntax.declarations import Project, StepsBody
from compiler.syntax.durations import parse_duration_ms
from compiler.syntax.fragment import Fragment

DATA = Path(__file__).parent / "data"
BAD = sorted(p for p in (DATA / "bad_projects").iterdir() if p.is_dir())


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def load(root: Path, **more: object) -> Project:
    reporter = Reporter()
    project = load_project(root, reporter=reporter, **more)  # type: ignore[arg-type]
    assert render_all(reporter.all()) == ""
    assert project is not None
    return project


def said(root: Path, **more: object) -> list[str]:
    reporter = Reporter()
    load_project(root, reporter=reporter, **more)  # type: ignore[arg-type]
    return [f"{d.code.name} {d.message}" for d in reporter.all()]


@pytest.mark.parametrize("root", BAD, ids=lambda p: p.name)
def test_bad_project(root: Path, golden: Callable[[Path, str], None]) -> None:
    reporter = Reporter()
    load_project(root, reporter=reporter, environment={})
    golden(root / "expected.txt", render_all(reporter.all()))


def test_no_project(tmp_path: Path) -> None:
    reporter = Reporter()
    assert load_project(tmp_path, reporter=reporter) is None
    (found,) = reporter.all()
    assert found.code.name == "HR607"
    assert "headrace init" in (found.fix or "")


def test_defaults(tmp_path: Path) -> None:
    project = load(write(tmp_path, {"headrace.yml": "name: shop", "m.sql": "SELECT 1 AS x"}))
    target = project.config.target
    assert (project.config.name, project.config.timezone, target.name) == ("shop", "UTC", "dev")
    assert (target.master, target.state, target.trigger_ms) == ("local[*]", ".headrace/state", None)
    assert (target.on_end, target.parallelism, target.storage) == ("leave_open", 2, "out")


def test_target_and_variables(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: shop\n"
            "timezone: ${zone}\n"
            "vars: {zone: Europe/Berlin, base: /data, path: '${base}/in', secret: '${env:SECRET}', n: 1}\n"
            "defaults: {parallelism: 3, sources: {max_files_per_epoch: 1}, spark: {a.b: 1, c: x}}\n"
            "targets:\n"
            "  dev: {}\n"
            "  prod: {master: '${env:MASTER}', trigger: 5 seconds, vars: {n: 2, base: /prod},\n"
            "         spark: {c: y}}\n",
            "s.sql": "CREATE SOURCE s (x INT)\n"
            "WITH (path = '${path}', key = '${secret}', n = ${n}, m = ${m});",
        },
    )
    project = load(tmp_path, target="prod", variables={"m": True}, environment={"MASTER": "yarn"})
    config = project.config
    assert config.timezone == "Europe/Berlin"
    assert (config.target.name, config.target.master, config.target.trigger_ms) == ("prod", "yarn", 5000)
    assert (config.target.parallelism, config.target.spark) == (3, (("a.b", "1"), ("c", "y")))
    assert [(o.key.value, o.value.value) for o in config.source_defaults] == [("max_files_per_epoch", "1")]
    options = {o.key.value: o.value.value for o in project.sources[0].options}
    assert options == {"path": "/prod/in", "key": "${env:SECRET}", "n": "2", "m": "true"}


def test_unknown_target(tmp_path: Path) -> None:
    write(tmp_path, {"headrace.yml": "name: shop\ntargets: {dev: {}, prod: {}}\n"})
    reporter = Reporter()
    load_project(tmp_path, target="prd", reporter=reporter)
    (found,) = reporter.all()
    assert (found.code.name, found.fix) == ("HR215", "did you mean `prod`?")
    assert said(tmp_path, variables={"x": [1]}) == [
        "HR104 variable `x` of --vars must be a text, a number or a boolean"
    ]


def test_files_that_are_not_read(tmp_path: Path) -> None:
    bad = "THIS IS NOT SQL"
    names = [
        "target/x.sql",
        ".headrace/x.sql",
        ".git/x.sql",
        "tests/x.sql",
        "functions/x.yml",
        "out/x.sql",
        "lib/x.sql",
    ]
    write(tmp_path, dict.fromkeys(names, bad))
    write(
        tmp_path,
        {
            "headrace.yml": "name: x",
            "lib/headrace.yml": "name: y",
            "out/_spark_metadata/0": "",
            "notes.txt": bad,
        },
    )
    write(tmp_path, {"b.sql": "SELECT 1 AS x", "a/tests/deep.sql": "SELECT 1 AS x", "data/x.csv": "a\n"})
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    assert [m.name.value for m in load(tmp_path).models] == ["deep", "b"]


def test_script(tmp_path: Path) -> None:
    script = (
        "SET 'table.local-time-zone' = 'Asia/Tokyo';\n"
        "CREATE TABLE a (x INT) WITH ('path' = '${p}');\n"
        "SELECT * FROM a"
    )
    write(tmp_path, {"one.sql": script})
    reporter = Reporter()
    project = load_script(tmp_path / "one.sql", variables={"p": "/x"}, reporter=reporter)
    assert project is not None
    assert not reporter.all()
    assert (project.config.name, project.config.timezone, project.root) == (
        "one",
        "Asia/Tokyo",
        str(tmp_path),
    )
    assert ([s.name.value for s in project.sources], [m.name.value for m in project.models]) == (
        ["a"],
        ["one"],
    )

    write(tmp_path, {"headrace.yml": "name: shop\nvars: {p: /y}\n", "sub/two.sql": script})
    reporter = Reporter()
    project = load_script(tmp_path / "sub" / "two.sql", reporter=reporter)
    assert project is not None
    assert project.root == str(tmp_path)
    assert project.sources[0].options[0].value.value == "/y"
    assert [d.code.name for d in reporter.all()] == ["HR106"]  # the zone is the project's
    assert find_root(tmp_path / "sub") == tmp_path

    reporter = Reporter()
    assert load_script(tmp_path / "none.sql", reporter=reporter) is None
    assert [d.code.name for d in reporter.all()] == ["HR605"]


def test_dbt_calls(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: x\nvars: {n: 3}\n",
            "s.yml": "sources:\n"
            "  - {name: shop, tables: [{name: orders, columns: {a: INT}, with: {connector: kafka}}]}\n"
            "models: [{name: m, description: text, tags: [b], columns: {a: }}]\n",
            "m.sql": "{{ config(state_ttl='1 d', tags=['a']) }}\n{# note #}"
            "SELECT {{ var('n') }} FROM {{ source('shop', 'orders') }} JOIN {{ ref('my-seed') }}\n",
            "seeds/my-seed.csv": "a,b\n1,x\n",
        },
    )
    project = load(tmp_path)
    (model,) = project.models
    assert getattr(model.body, "text", "") == "SELECT 3 FROM orders JOIN `my-seed`"
    assert model.description == "text"
    assert [t.value for t in model.tags] == ["a", "b"]
    assert [(o.key.value, o.value.value) for o in model.options] == [("state_ttl", "1 d")]
    assert [c.name.value for c in model.columns] == ["a"]
    assert project.sources[0].group == "shop"


def test_seeds(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: x",
            "seeds/a.csv": "i,code,d,b,day,at,text,none,late\n"
            '1,007,1.5,true,2020-02-29,2020-01-01 10:00:00,"a\nb",,x\n'
            "\n-2,1,2,FALSE,,2020-01-01T10:00,,,\n",
            "seeds/sub/b.csv": "x\n9223372036854775808\n",
            "seeds/types.yml": "seeds: [{name: a, columns: {i: INT, b: }}]",
        },
    )
    first, second = load(tmp_path).seeds
    assert first.columns == (
        ("i", "INT"),
        ("code", "STRING"),
        ("d", "DOUBLE"),
        ("b", "BOOLEAN"),
        ("day", "DATE"),
        ("at", "TIMESTAMP"),
        ("text", "STRING"),
        ("none", "STRING"),
        ("late", "STRING"),
    )
    assert (second.path, second.columns) == ("seeds/sub/b.csv", (("x", "DOUBLE"),))
    assert len(first.sha256) == 64


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-3"], "BIGINT"),
        (["1", ""], "BIGINT"),
        (["1", "2.5", "1e3"], "DOUBLE"),
        (["01", "2"], "STRING"),
        (["2020-02-30"], "STRING"),
        (["2020-02-20", "2020-02-20 10:00:00.5"], "TIMESTAMP"),
        (["2020-02-20 25:00:00"], "STRING"),
        ([" 1"], "STRING"),
        (["NaN"], "STRING"),
        ([""], "STRING"),
    ],
)
def test_guess(cells: list[str], expected: str) -> None:
    assert guess(cells) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 minutes", 300_000),
        ("10 s", 10_000),
        ("1 d", 86_400_000),
        ("1h 30m", 5_400_000),
        ("1h30m", 5_400_000),
        ("500 ms", 500),
        ("1.5 s", 1_500),
        ("PT5M", 300_000),
        ("P1DT2H", 93_600_000),
        ("0", 0),
        ("5", None),
        ("-5 s", None),
        ("5 parsecs", None),
        ("", None),
        ("P", None),
        ("0.0001 ms", None),
    ],
)
def test_duration(text: str, expected: int | None) -> None:
    assert parse_duration_ms(text) == expected


def test_broken_names_are_known(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: x",
            "a.sql": "CREATE MODEL broken_sql WITH (a b) AS SELECT 1; INSERT INTO broken_table SELECT 1;\n"
            "CREATE TABLE broken_table (a INT WITH (a b);",
            "b.yml": "models:\n  - name: broken_yaml\n    from: [a]\n",
            "c.yml": "models:\n  - name: broken_file\n  bad\n",
        },
    )
    reporter = Reporter()
    project = load_project(tmp_path, reporter=reporter)
    assert project is not None
    assert project.broken == {"broken_sql", "broken_yaml", "broken_table", "broken_file"}
    assert {d.code.name for d in reporter.all()} == {"HR101", "HR102", "HR104"}
    assert "broken " in declaration_text(project)


def test_variables_that_nothing_uses(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: x\nvars: {here: 1, folder: a}\ndefaults: {state: '.h/${elsewhere}'}\n"
            "targets: {dev: {}, prod: {vars: {there: 2}}}\n",
            "m.sql": "SELECT {{ var('asked', 5) }} AS x, '{{ var(\"here\") }}' AS y",
            "m2.yml": 'models: [{name: m2, from: m, with: {uid: \'{{ var("named", "u") }}\'}}]',
        },
    )
    given = {"here": 1, "there": 1, "asked": 1, "elsewhere": "s", "named": "n"}
    assert said(tmp_path, variables=given) == []
    reporter = Reporter()
    load_project(tmp_path, variables={**given, "askd": 2, "zzz": 3}, reporter=reporter)
    assert [(d.code.name, d.is_error, d.fix) for d in reporter.all()] == [
        ("HR111", False, "did you mean `asked`?"),
        ("HR111", False, "leave it out"),
    ]


def test_dbt_calls_of_every_form(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: shop\nvars: {base: in, n: 3}",
            "a.sql": "{#- a comment -#}\n"
            "{{- config(state_ttl='1 d', contract={'enforced': true}, tags=['x']) -}}\n"
            "SELECT '[ {{- var('n') -}} ]' AS a, '{# none #}' AS b\n"
            "FROM {{ ref('shop', 'b') }} AS l JOIN {{ source('raw', 'c') }} -- {{ off }}\n",
            "b.yml": "models:\n"
            "  - {name: b, from: \"{{ source('raw', 'c') }}\", steps: [{union: [\"{{ ref('a') }}\"]}]}\n"
            "sources:\n"
            "  - name: raw\n"
            "    tables: [{name: c, with: {path: \"{{ var('base') }}/{{ var('n', 4) }}\"}}]\n",
        },
    )
    project = load(tmp_path)
    a, b = sorted(project.models, key=lambda m: m.name.value)
    assert isinstance(a.body, Fragment)
    assert a.body.text == "SELECT '[3]' AS a, '' AS b\nFROM b AS l JOIN c -- {{ off }}"
    assert a.body.span(9, 10).text == "{{- var('n') -}}"
    assert [(o.key.value, o.value.value) for o in a.options] == [
        ("state_ttl", "1 d"),
        ("contract.enforced", "true"),
    ]
    assert isinstance(b.body, StepsBody)
    assert (b.body.source.value, b.body.steps[0].relations[0].value) == ("c", "a")
    assert project.sources[0].options[0].value.value == "in/3"


def test_jinja_that_is_not_static(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: shop",
            "a.sql": "{% set x = 1 %}\n{% for i in y %} SELEC {% endfor %}\nCREATE MODEL z AS SELECT 1;",
            "b.sql": "SELECT * FROM {{ ref('other', 'a') }} JOIN {{ ref('a', v=2) }} JOIN z",
            "c.yml": "models: [{name: c, from: a, description: \"{{ doc('c') }} {{ a | b }}\"}]",
        },
    )
    reporter = Reporter()
    load_project(tmp_path, reporter=reporter)
    assert [(d.code.name, d.span.place() if d.span else "", d.fix) for d in reporter.all()] == [
        ("HR108", "a.sql:1:1", "write the value under `vars:` in headrace.yml, and `${name}` here"),
        (
            "HR108",
            "a.sql:2:1",
            "`${name}` holds what changes from run to run, and a model holds a query that others use",
        ),
        ("HR108", "b.sql:1:15", "write `{{ ref('model') }}`"),
        ("HR108", "b.sql:1:44", "write `{{ ref('model') }}`"),
        ("HR108", "c.yml:1:43", "write the text out"),
        (
            "HR108",
            "c.yml:1:58",
            "`${name}` holds what changes from run to run, and a model holds a query that others use",
        ),
    ]


def test_types_of_a_seed_as_dbt_gives_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "headrace.yml": "name: x",
            "s.yml": "seeds:\n"
            "  - name: codes\n"
            "    config: {column_types: {code: STRING, rate: 'DECIMAL(4, 2)'}, tags: [x]}\n"
            "    columns: [{name: code, description: of the shop}, {name: kind}]\n",
            "seeds/codes.csv": "code,rate,kind\n1,2.50,3\n",
        },
    )
    (seed,) = load(tmp_path).seeds
    assert seed.columns == (("code", "STRING"), ("rate", "DECIMAL(4, 2)"), ("kind", "BIGINT"))
    (tmp_path / "s.yml").write_text(
        "seeds: [{name: codes, columns: {code: INT}, config: {column_types: {code: STRING}, quote: true}}]"
    )
    assert said(tmp_path) == [
        "HR203 the type of column `code` is given twice",
        "HR103 unknown key `quote` in `config` of seed `codes`",
    ]
