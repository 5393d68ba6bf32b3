"""What a job plan says of a topic's messages: the columns of their key."""

from __future__ import annotations

from pathlib import Path

from test_plans import compile_file

from compiler.diagnostics.render import render_all
from compiler.jobplan.model import JobPlan, Scan


def plan_of(tmp_path: Path, *tables: tuple[str, str, str], insert: str) -> JobPlan:
    """The plan of tables over topics: name and columns, connector, further options; the last is written."""
    declared = [
        f"CREATE {'TABLE' if table is tables[-1] else 'SOURCE'} {table[0]} WITH (connector = '{table[1]}', "
        f"topic = 't{number}', 'properties.bootstrap.servers' = 'kafka:9092', {table[2]});\n"
        for number, table in enumerate(tables)
    ]
    path = tmp_path / "m.sql"
    path.write_text("".join(declared) + insert)
    compiled = compile_file(path, tmp_path)
    assert compiled.plan is not None, render_all(compiled.diagnostics)
    return compiled.plan


def test_a_key_in_another_case_is_that_of_the_columns(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        ("c (Id INT, v INT, PRIMARY KEY (ID, iD) NOT ENFORCED)", "kafka", "format = 'debezium-json'"),
        (
            "s (id INT, v INT, PRIMARY KEY (ID, id) NOT ENFORCED)",
            "upsert-kafka",
            "'key.format' = 'json', 'value.format' = 'json'",
        ),
        insert="INSERT INTO s SELECT id, v FROM c",
    )
    (query,) = plan.queries
    assert [list(op.key) for op in query.operators if isinstance(op, Scan)] == [["Id"]]
    (sink,) = query.sinks
    assert (list(sink.primary_key), sink.options["key.fields"]) == (["id"], "id")


def test_key_fields_name_a_column_once(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        ("s (id BIGINT, c STRING)", "kafka", "format = 'json', 'key.fields' = 'id;ID; c;id'"),
        insert="INSERT INTO s SELECT id, customer FROM orders",
    )
    assert plan.queries[0].sinks[0].options["key.fields"] == "id;c"
