"""Python workers that are forked from a process which has imported what they use."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from runtime.spark import session as sessions
from runtime.spark.workers import Nursery

MODULE = "pyspark.sql.streaming.transform_with_state_driver_worker"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Nursery, Path]]:
    folder = tmp_path_factory.mktemp("n")
    made = Nursery(folder)
    yield made, folder
    made.stop()


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs what Spark runs; no JVM is listening at the port, so a worker fails when it connects."""
    environ = dict(os.environ, PYTHON_WORKER_FACTORY_PORT="1", PYTHON_WORKER_FACTORY_SECRET="x")
    return subprocess.run([script, *arguments], capture_output=True, text=True, check=False, env=environ)


def test_without_a_nursery_it_is_python(nursery: tuple[Nursery, Path]) -> None:
    script = nursery[0].python()
    assert run(script, "-c", "import sys; print(sys.executable)").stdout.strip() == sys.executable
    worker = run(script, "-m", MODULE)
    assert worker.returncode == 1
    assert f"{MODULE.rsplit('.', 1)[1]}.py" in worker.stderr


def test_a_socket_that_nobody_listens_at_is_no_obstacle(nursery: tuple[Nursery, Path]) -> None:
    made, folder = nursery
    script = made.python()
    made.start()
    wait_for((folder / "workers.sock").exists)
    made._server.kill()  # type: ignore[union-attr]  # it has just been started
    made.stop()
    assert (folder / "workers.sock").exists()
    worker = run(script, "-m", MODULE)
    assert worker.returncode == 1
    assert "runpy" in worker.stderr
    assert "server.py" not in worker.stderr


def test_a_forked_worker_has_the_streams_and_the_exit_code_of_its_own(nursery: tuple[Nursery, Path]) -> None:
    made, folder = nursery
    script = made.python()
    made.start()
    wait_for((folder / "workers.sock").exists)
    worker = run(script, "-m", MODULE)
    assert worker.returncode == 1
    # What it says in the JVM's log shows where it came from.
    assert "server.py" in worker.stderr
    assert "CONNECT" in worker.stderr.upper()


def test_the_nursery_ends_with_the_process_that_made_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("n")
    code = (
        "import os, signal, sys, time; from pathlib import Path; from runtime.spark.workers import Nursery\n"
        "folder = Path(sys.argv[1]); made = Nursery(folder); made.start()\n"
        "while not (folder / 'workers.sock').exists(): time.sleep(0.05)\n"
        "print(made._server.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environ = dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parents[2]))
    child = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False, env=environ
    )
    server = int(child.stdout)

    def gone() -> bool:
        try:
            os.kill(server, 0)
        except ProcessLookupError:
            return True
        # Its parent is gone, so it may stay as a zombie until somebody collects it.
        return (
            "Z"
            in subprocess.run(
                ["ps", "-o", "stat=", "-p", str(server)], capture_output=True, text=True, check=False
            ).stdout
        )

    wait_for(gone)
    assert not (folder / "workers.sock").exists()


def test_spark_takes_its_workers_from_the_nursery(session: SparkSession) -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np

        for _ in batches:
            # So that one worker cannot do the work of all.
            time.sleep(0.3)
            forked = "runtime.spark.workers.preload" in sys.modules
            yield pa.RecordBatch.from_pydict({"forked": [forked], "drawn": [float(np.random.rand())]})

    driver = sessions._driver
    assert driver is not None
    wait_for(driver.jvm._nursery._socket.exists)
    # Another environment has workers of its own: others may have started before the nursery was ready.
    environment = session.sparkContext.environment
    environment["HEADRACE_TEST"] = "1"
    try:
        rows = session.range(4, numPartitions=4).mapInArrow(look, "forked boolean, drawn double").collect()
    finally:
        del environment["HEADRACE_TEST"]
    assert [row.forked for row in rows] == [True] * 4
    # Forks of one process would draw the same numbers.
    assert len({row.drawn for row in rows}) == 4
