"""compile, explain, list, clean: the commands that need no Java."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from shop import Invoke, Write

from compiler.jobplan.codec import plan_from_json, to_json
from compiler.jobplan.model import GroupMemory, Manifest


def test_compile_writes_the_plan_and_says_what_is_in_it(invoke: Invoke, shop: Path) -> None:
    result = invoke("compile")
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "compiled shop for target dev: 2 queries, 2 sinks\n"
        "  query all_big: alone: nothing else reads orders alike\n"
        "    all_big -> filesystem out/big\n"
        "  query counts, 1 stateful operator: alone: it keeps state of its own (per_minute.aggregate)\n"
        "    counts -> filesystem out/counts\n"
        "job plan: target/job_plan.json\n"
    )
    plan = plan_from_json((shop / "target/job_plan.json").read_text())
    assert [query.uid for query in plan.queries] == ["all_big", "counts"]


def test_project_is_found_from_a_folder_in_it(
    invoke: Invoke, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop / "models")
    assert invoke("compile").exit_code == 0
    assert (shop / "target/job_plan.json").exists()


def test_project_dir_target_and_variables(invoke: Invoke, write: Write) -> None:
    folder = write({})
    result = invoke("compile", "--project-dir", folder, "--target", "prod", "--vars", "{min_price: 007}")
    assert result.exit_code == 0, result.output
    text = (folder / "target/job_plan.json").read_text()
    assert '"trigger_ms": 5000' in text
    assert "price > 007" in text


def test_json_log_has_one_object_a_line(invoke: Invoke, write: Write) -> None:
    folder = write({"models/unused.sql": "SELECT id FROM orders"})
    result = invoke("compile", "--project-dir", folder, "--log-format", "json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [e["event"] for e in events] == ["diagnostic", "compiled"]
    assert (events[0]["code"], events[0]["place"]["file"]) == ("HR219", "models/unused.sql")
    assert all(e["time"].endswith("Z") for e in events)
    assert result.stderr == ""


def test_warnings_do_not_stop(invoke: Invoke, write: Write) -> None:
    folder = write({"models/unused.sql": "SELECT id FROM orders"})
    result = invoke("compile", "--project-dir", folder)
    assert result.exit_code == 0
    assert result.stderr.endswith("\n1 warning\n")
    assert "2 sinks, 1 warning" in result.stdout


def test_remembered_queries_keep_their_names(invoke: Invoke, shop: Path) -> None:
    invoke("compile")
    plan = plan_from_json((shop / "target/job_plan.json").read_text())
    counts = plan.queries[1]
    memory = GroupMemory("older", ("counts",), counts.reads, counts.state, 2)
    (shop / ".headrace/state").mkdir(parents=True)
    (shop / ".headrace/state/manifest.json").write_text(to_json(Manifest(1, "shop", (memory,))))
    assert invoke("compile").exit_code == 0
    plan = plan_from_json((shop / "target/job_plan.json").read_text())
    assert [(q.uid, q.provisional) for q in plan.queries] == [("older", False), ("all_big", True)]


@pytest.mark.parametrize(
    ("manifest", "code"),
    [("{", "HR505"), ('{"version": 9}', "HR505"), (to_json(Manifest(1, "store")), "HR502")],
)
def test_wrong_manifest(invoke: Invoke, shop: Path, manifest: str, code: str) -> None:
    (shop / ".headrace/state").mkdir(parents=True)
    (shop / ".headrace/state/manifest.json").write_text(manifest)
    result = invoke("compile")
    assert result.exit_code == 2
    assert f"error[{code}]" in result.stderr


def test_target_in_the_way(invoke: Invoke, shop: Path) -> None:
    (shop / "target").write_text("a file")
    result = invoke("compile")
    assert result.exit_code == 2
    assert "error[HR606]" in result.stderr


def test_compile_needs_no_spark(shop: Path) -> None:
    code = (
        "import sys, runtime.cli as c\n"
        "try:\n  c.group.main(['compile'])\nexcept SystemExit as e: assert not e.code\n"
        "assert not {'pyspark', 'py4j', 'rich', 'pandas'} & {n.split('.')[0] for n in sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=_environment())


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def test_select_narrows_the_summary_but_not_the_plan(invoke: Invoke, shop: Path) -> None:
    result = invoke("compile", "--select", "per_*")
    assert "compiled shop for target dev: 1 query, 1 sink\n" in result.stdout
    assert len(plan_from_json((shop / "target/job_plan.json").read_text()).queries) == 2


def test_selection_of_nothing(invoke: Invoke, shop: Path) -> None:
    result = invoke("compile", "-s", "all_big,cuonts")
    assert result.exit_code == 2
    assert result.stderr == (
        "error[HR216]: `cuonts` selects nothing\n"
        " --> --select:1:9\n"
        "  |\n"
        "1 | all_big,cuonts\n"
        "  |         ^^^^^^\n"
        "  |\n"
        "  = help: did you mean `counts`?\n"
        "  = docs: docs/diagnostics/HR216.md\n"
        "\n"
        "1 error\n"
    )


def test_explain(invoke: Invoke, shop: Path) -> None:
    result = invoke("explain", "--select", "counts")
    assert result.exit_code == 0
    assert "query counts" in result.stdout
    assert "query all_big" not in result.stdout
    graphs = json.loads(invoke("explain", "--format", "json").stdout)
    assert [query["query"]["uid"] for query in graphs["job"]["queries"]] == ["all_big", "counts"]
    assert invoke("explain", "--level", "stream", "--format", "mermaid").stdout.startswith("flowchart LR\n")
    assert "write counts" in invoke("explain", "--level", "execution", "-s", "counts").stdout
    assert not (shop / "target").exists()


def test_emit(invoke: Invoke, shop: Path) -> None:
    result = invoke("compile", "--emit", "pyspark", "-s", "counts")
    assert result.exit_code == 0
    compile(result.stdout, "ejected", "exec")
    assert "def query_counts(spark: SparkSession)" in result.stdout
    assert "# models/per_minute.yml:" in result.stdout
    assert "query_all_big" not in result.stdout
    assert "headrace." not in result.stdout
    told = invoke("compile", "--emit", "pyspark", "-s", "counts", "--out", shop / "counts.py")
    assert (shop / "counts.py").read_text() == result.stdout
    assert "program: counts.py" in told.stdout
    refused = invoke("compile", "--emit", "pyspark", "--out", shop / "missing/counts.py")
    assert refused.exit_code == 2
    assert "error[HR606]" in refused.stderr


def test_list(invoke: Invoke, shop: Path) -> None:
    assert invoke("list").stdout == (
        "source (filesystem)  orders      sources/orders.sql:1\n"
        "model                big         models/big.sql:1         reads orders\n"
        "model                per_minute  models/per_minute.yml:2  reads big\n"
        "sink (filesystem)    all_big     sinks/outs.sql:1         reads big\n"
        "sink (filesystem)    counts      sinks/outs.sql:2         reads per_minute\n"
    )
    rows = json.loads(invoke("list", "--output", "json", "--select", "+counts").stdout)
    assert [row["name"] for row in rows] == ["orders", "big", "per_minute", "counts"]
    assert rows[1] == {
        "name": "big",
        "kind": "model",
        "file": "models/big.sql",
        "line": 1,
        "connector": None,
        "reads": ["orders"],
        "description": None,
    }


def test_list_of_a_broken_project_shows_what_it_can(invoke: Invoke, write: Write) -> None:
    folder = write({"models/big.sql": "SELECT nothing FROM orders"})
    result = invoke("list", "--project-dir", folder)
    assert result.exit_code == 2
    assert "big         models/big.sql:1         reads ?" in result.stdout
    assert "error[HR201]" in result.stderr


def test_clean_removes_only_what_is_ours(invoke: Invoke, shop: Path) -> None:
    assert invoke("clean").stdout == "nothing to remove: there is no target/\n"
    invoke("compile")
    (shop / ".headrace/state").mkdir(parents=True)
    (shop / "target/out").mkdir()
    result = invoke("clean")
    assert result.exit_code == 0
    assert result.stdout == (
        "removed target/CACHEDIR.TAG, target/cache, target/job_plan.json\n"
        "kept target/out, which headrace's commands did not write\n"
    )
    assert (shop / "target/out").is_dir()
    assert (shop / ".headrace/state").is_dir()
    (shop / "target/out").rmdir()
    invoke("compile")
    assert invoke("clean").exit_code == 0
    assert not (shop / "target").exists()


def test_clean_refuses_a_folder_that_is_not_ours(invoke: Invoke, shop: Path, tmp_path: Path) -> None:
    (shop / "target").mkdir()
    (shop / "target/job_plan.json").write_text("theirs")
    result = invoke("clean")
    assert result.exit_code == 2
    assert "error[HR404]" in result.stderr
    assert (shop / "target/job_plan.json").exists()
    (shop / "target/job_plan.json").unlink()
    (shop / "target").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (shop / "target").symlink_to(tmp_path / "elsewhere")
    assert invoke("clean").exit_code == 2
    assert (tmp_path / "elsewhere").is_dir()


def test_script_without_a_project(invoke: Invoke, tmp_path: Path) -> None:
    script = tmp_path / "ticks.sql"
    script.write_text(
        "CREATE SOURCE t (n BIGINT) WITH (connector = 'datagen', number_of_rows = 3);\n"
        "CREATE SINK out WITH (connector = 'console') AS SELECT n FROM t;\n"
    )
    assert invoke("compile", script).exit_code == 0
    plan = plan_from_json((tmp_path / "target/ticks.job_plan.json").read_text())
    assert (plan.project, plan.settings.state_root) == ("ticks", ".headrace/state/scripts/ticks")


def test_rechain_tells_what_would_begin_anew(invoke: Invoke, shop: Path) -> None:
    assert "nothing begins anew" in invoke("compile", "--rechain").stdout
    sinks = ("all_big", "counts")
    groups = tuple(GroupMemory(f"old_{sink}", (sink, "gone"), ("orders",), (), 2) for sink in sinks)
    root = shop / ".headrace/state"
    root.mkdir(parents=True)
    (root / "manifest.json").write_text(to_json(Manifest(1, "shop", groups)))
    plain = invoke("compile").stdout
    assert "query old_all_big" in plain
    assert "rechain" not in plain
    anew = invoke("compile", "--rechain").stdout
    assert "rechain: 2 queries instead of 2\n  query old_all_big of all_big, gone ends\n" in anew
    assert "query all_big begins: all_big read orders from the start" in anew
