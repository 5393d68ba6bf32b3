"""Pipelines on a standalone cluster: what executors lack reaches them, and a worker may be lost."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import four_sinks
import pytest
from files import rows_of
from four_sinks import begun, doubled_or_lost, expected, outputs, send
from msgspec.structs import replace
from postgres_database import Database
from pyspark.sql import SparkSession
from spark_cluster import NAMESPACE, OWN_DISK, Cluster, bare_python, spark_cluster, without_headrace
from test_kafka_source import make_topic
from test_policies import compiled

from compiler.diagnostics.diagnostic import DiagnosticError
from runtime.cli.running import ask_spark
from runtime.jobs.failures import cause_of
from runtime.jobs.second_opinion import Places
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.session import SessionSettings

ROOT = Path(__file__).resolve().parents[2]
ROWS, EPOCH_ROWS = 3000, 500

# As `headrace`, but of this folder, whatever the environment says.
MAIN = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from runtime.cli import main; main()"

# In a process of its own: this one may have a session.
OPENS = """
import sys
from pathlib import PosixPath
sys.path.insert(0, {root!r})
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.session import SessionSettings, open_session
try:
    open_session({settings!r})
except EnvironmentProblem as problem:
    print(problem.code, problem.cause)
"""

FUNCTIONS = """
import headrace
from words import spell


@headrace.scalar
def spelt(v: int) -> str:
    return v.map(spell)


@headrace.scalar(vectorized=False)
def doubled(v: int) -> int:
    return 2 * v


@headrace.aggregate
def spread(v: int) -> int:
    return v.max() - v.min()


class Running(headrace.ProcessFunction):
    output = "nth BIGINT, total BIGINT"
    seen = headrace.value_state("BIGINT")
    total = headrace.value_state("BIGINT")

    def process(self, row, ctx):
        self.seen.set((self.seen.get() or 0) + 1)
        self.total.set((self.total.get() or 0) + row.v)
        if row.v % 10 == 0:
            yield {"nth": self.seen.get(), "total": self.total.get()}
"""

MORE = """
    CREATE MODEL running WITH (allow_unbounded = true) AS
      SELECT k, nth, total FROM TABLE(Running(TABLE clicks PARTITION BY k));
    CREATE SINK to_running WITH (connector = 'filesystem', path = 'running', format = 'json') AS
      SELECT k, nth, doubled(total) AS total FROM running;
    CREATE MODEL spreads AS
      SELECT CAST(window_start AS STRING) AS at, k, spread(v) AS width
      FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '20' SECONDS) GROUP BY window_start, window_end, k;
    CREATE SINK to_spreads WITH (connector = 'filesystem', path = 'spreads', format = 'json') AS
      SELECT at, k, spelt(width) AS width FROM spreads;
"""


def lay_out(root: Path, master: str, sql: str, conf: dict[str, str]) -> None:
    (root / "functions").mkdir(parents=True, exist_ok=True)
    (root / "functions/calls.py").write_text(FUNCTIONS)
    (root / "functions/words.py").write_text("def spell(v):\n    return f'<{v}>'\n")
    (root / "all.sql").write_text(sql)
    target = {"master": master, "parallelism": 2, "spark": conf}
    (root / "headrace.yml").write_text(
        json.dumps({"name": "shop", "version": "1", "targets": {"dev": target}})
    )


def start(root: Path, **more: str) -> subprocess.Popen[bytes]:
    # Processes that the driver starts would find headrace by PYTHONPATH, those of the cluster's Python too.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PY")}
    command = [sys.executable, "-c", MAIN, "run", "--on-end", "close", "--jvm", "fast-start"]
    with (root / "run.log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=root, env=environ | more, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )


def wait_for_epochs(run: subprocess.Popen[bytes], root: Path, epochs: int) -> None:
    end = time.monotonic() + 300
    while begun(root) < epochs and run.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert run.poll() is None, (root / "run.log").read_text()
    assert begun(root) >= epochs


def conf_of(cluster: Cluster) -> dict[str, str]:
    return {
        "spark.pyspark.python": str(cluster.python),
        "spark.executor.memory": "640m",
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_worker_and_the_driver_are_killed(kafka: str, postgres: Database, tmp_path: Path) -> None:
    source = make_topic(kafka, 2)
    send(kafka, source, 0, ROWS)
    found = {}
    with spark_cluster(tmp_path / "spark", 2) as cluster:
        for module in ("runtime", "compiler", "headrace"):
            missing = without_headrace(cluster.python, f"import pyarrow, {module}", tmp_path)
            assert f"No module named '{module}'" in missing
        for name, master, conf in (("local", "local[2]", {}), ("cluster", cluster.master, conf_of(cluster))):
            root, target = tmp_path / name, make_topic(kafka, 2)
            database = Database(postgres.server, f"{postgres.name}_{name}")
            database.create()
            sql = four_sinks.project(kafka, source, target, database, EPOCH_ROWS) + MORE
            lay_out(root, master, sql, conf)
            run = start(root, **({"PYTHONPATH": str(ROOT)} if name == "local" else {}))
            if name == "cluster":
                wait_for_epochs(run, root, 5)
                assert cluster.kill(0) == 1
                # The run goes on; then its driver dies, and the next one is given the worker that is left.
                wait_for_epochs(run, root, 9)
                run.kill()
                run.wait()
                run = start(root)
            assert run.wait(300) == 0, (root / "run.log").read_text()
            found[name] = outputs(kafka, target, database, root)
            for sink in ("running", "spreads"):
                found[name][sink] = [tuple(row.values()) for row in rows_of(root / sink)]
            database.drop()
    for name, rows in found["cluster"].items():
        wanted = found["local"][name]
        assert wanted
        assert doubled_or_lost(rows, wanted) == (0, 0), name
        if name not in {"running", "spreads"}:
            assert doubled_or_lost(rows, expected(ROWS)) == (0, 0), name


@pytest.mark.soak
def test_executors_that_cannot_start(tmp_path: Path) -> None:
    with spark_cluster(tmp_path / "spark", 1, java_home=tmp_path / "no-java") as cluster:
        settings = SessionSettings("app", tmp_path / "jvm.log", master=cluster.master, short_run=True)
        script = OPENS.format(root=str(ROOT), settings=settings)
        done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.stdout == "HR611 Master removed our application: FAILED\n", done.stderr


@pytest.mark.soak
def test_executors_that_lack_something(tmp_path: Path) -> None:
    """A folder that is not shared, a package, and the interpreter itself."""
    root = tmp_path / "not-shared/shop"
    sql = """
        CREATE SOURCE words (word STRING) WITH (connector = 'filesystem', path = 'words', format = 'json');
        CREATE SINK to_files WITH (connector = 'filesystem', path = 'out', format = 'json')
          AS SELECT * FROM words;
        CREATE SINK to_table WITH (connector = 'jdbc', url = 'jdbc:postgresql://127.0.0.1:1/db', table = 'w')
          AS SELECT * FROM words;
    """
    (root / "words").mkdir(parents=True)
    tried = [*NAMESPACE, "--mount", "sh", "-c", OWN_DISK, "sh", str(root.parent), "true"]
    if subprocess.run(tried, check=False, capture_output=True).returncode != 0:
        pytest.skip("this system does not let a process have mounts of its own")
    with spark_cluster(tmp_path / "spark", 1, own_disk=root.parent) as cluster:
        conf = conf_of(cluster) | {
            "spark.pyspark.python": str(bare_python(tmp_path / "less", lacks="psycopg"))
        }
        lay_out(root, cluster.master, sql, conf)
        assert start(root).wait(200) == 2
        told = (root / "run.log").read_text()
        lacks = [line for line in told.splitlines() if line.startswith("error")]
        on = f"error[HR612]: an executor on {socket.gethostname()}"
        assert lacks == [
            f"{on} does not see what the driver writes into {root}/.headrace/state",
            f"{on} does not see what the driver writes into {root}/out",
            f"{on} does not see {root}/words",
            f"{on} has no Python module psycopg",
        ], told
        # What was asked with is gone.
        assert not list(root.rglob("._headrace_tmp_*"))
        shutil.rmtree(root)
        (root / "words").mkdir(parents=True)
        lay_out(root, cluster.master, sql, conf | {"spark.pyspark.python": "/no/such/python"})
        assert start(root).wait(200) == 2
        told = (root / "run.log").read_text()
        assert "error[HR612]: executors cannot run Python" in told
        assert 'Cannot run program "/no/such/python"' in told
        # More memory than a worker has: said, and ended by a signal.
        lay_out(root, cluster.master, sql, conf | {"spark.executor.memory": "100g"})
        run, before = start(root), time.monotonic()
        while "given no executor yet" not in (root / "run.log").read_text() and run.poll() is None:
            if time.monotonic() > before + 120:
                run.kill()
            time.sleep(0.1)
        run.terminate()
        assert run.wait(30) == 130, (root / "run.log").read_text()


def test_spark_is_asked_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = """
        CREATE SOURCE words (word STRING) WITH (connector = 'filesystem', path = 'words', format = 'json');
        CREATE SINK out WITH (connector = 'print') AS SELECT * FROM words;
    """
    plan = compiled(tmp_path, sql)
    plan = replace(plan, settings=replace(plan.settings, master="spark://no-such-host.invalid:7077"))
    asked: list[SessionSettings] = []

    def opened(settings: SessionSettings, *_: object) -> SparkSession:
        asked.append(settings)
        raise EnvironmentProblem("HR603", "no", "", "")

    monkeypatch.setattr("runtime.spark.session.open_session", opened)
    with pytest.raises(DiagnosticError):
        ask_spark(plan, tmp_path / "jvm.log", Places({}, {}))
    assert [settings.master for settings in asked] == ["local[1]"]


def test_a_workers_traceback_is_told_by_its_end() -> None:
    traceback = (
        "Traceback (most recent call last):\n  File 'x', line 1\n    import x\nImportError: no x\n\nat org"
    )
    assert cause_of(RuntimeError(f"From the Python worker: {traceback}")) == "ImportError: no x"
