"""What a driver gives to executors of other machines, and how it is found by them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from spark_cluster import NAMESPACE, bare_python, without_headrace

from pipelines.services.base import free_port
from runtime.spark.cluster import check_master, driver_address, is_local
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.session import SessionSettings, spark_conf
from runtime.spark.shipping import archive

ROOT = Path(__file__).resolve().parents[2]

# What tasks call, from each of the packages that have such a thing, and what files under functions/ import.
CALLS = """
import headrace, importlib
for name in ("connectors.kafka.task", "connectors.postgres.task", "connectors.sinks.webhook",
             "functions.operator", "functions.scalars", "match.operator",
             "spark.buckets.lowering", "spark.buckets.processor"):
    module = importlib.import_module(f"runtime.{name}")
print(headrace.scalar.__module__, module.__file__)
"""


def test_the_archive_has_all_that_tasks_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "cache"))
    made = archive()
    python = bare_python(tmp_path / "python")
    assert "No module named 'headrace'" in without_headrace(python, CALLS, tmp_path)
    said = without_headrace(python, CALLS, tmp_path, made)
    assert said == f"runtime.functions.api {made}/runtime/spark/buckets/processor.py\n"


def test_the_archive_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "one"))
    made, again = archive(), archive()
    assert made == again
    assert list(made.parent.iterdir()) == [made]
    monkeypatch.setenv("HEADRACE_CACHE", str(tmp_path / "two"))
    elsewhere = archive()
    assert (elsewhere.name, elsewhere.read_bytes()) == (made.name, made.read_bytes())


def test_jars_go_to_executors_beside_the_users(tmp_path: Path) -> None:
    jars = (tmp_path / "ours.jar",)
    conf = {"spark.jars": "/opt/mine.jar"}
    on_cluster = SessionSettings("app", tmp_path / "log", master="spark://127.0.0.1:7077", conf=conf)
    assert spark_conf(on_cluster, jars)["spark.jars"] == f"{jars[0]},/opt/mine.jar"
    here = SessionSettings("app", tmp_path / "log", master="local[2]", conf=conf)
    assert spark_conf(here, jars)["spark.jars"] == "/opt/mine.jar"


def test_the_address_is_of_the_way_to_the_master() -> None:
    assert driver_address("local[*]", {}) == "127.0.0.1"
    # The first that there is a way to.
    assert driver_address("spark://no-such-host.invalid:7077,127.0.0.1:7077", {}) == "127.0.0.1"
    assert driver_address("spark://[::1]:7077", {}) in {"::1", None}
    assert driver_address("spark://no-such-host.invalid:7077", {}) is None
    assert driver_address("yarn", {}) is None
    assert driver_address("spark://127.0.0.1:7077", {"SPARK_LOCAL_HOSTNAME": "mine"}) is None
    # Its executors are processes, which need what those of other machines need.
    assert not is_local("local-cluster[2,1,1024]")


def test_a_master_that_does_not_answer() -> None:
    master = f"spark://127.0.0.1:{free_port()}"
    with pytest.raises(EnvironmentProblem, match=r"127\.0\.0\.1:\d+: Connection refused") as refused:
        check_master(master)
    assert refused.value.code == "HR611"
    with pytest.raises(EnvironmentProblem, match="is no address of a Spark master"):
        check_master("spark://host:seventy")


def test_a_machine_whose_name_resolves_to_nothing(tmp_path: Path) -> None:
    nameless = [*NAMESPACE, "--uts", "sh", "-c", 'hostname no-such-host; exec "$@"', "sh"]
    if subprocess.run([*nameless, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system does not let a process have a host name of its own")
    script = (
        "from pathlib import Path; from runtime.spark.session import *; "
        f"settings = SessionSettings('one', Path({str(tmp_path / 'jvm.log')!r}), short_run=True); "
        "spark = open_session(settings); print(spark.range(5).count()); close_session(spark)"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_LOCAL")}
    done = subprocess.run(
        [*nameless, sys.executable, "-c", script],
        check=False, env={**environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("5\n", "")
