"""The JVM that headrace starts: on both Javas, in a process of its own, ending with its driver."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from runtime.spark.errors import EnvironmentProblem
from runtime.spark.java import Java, find_java
from runtime.spark.launcher import MODULE_OPTIONS, LaunchSettings, class_path, pyspark_home, start_jvm
from runtime.spark.session import (
    EXACTLY_ONCE,
    LATER_OPTIMIZING,
    SessionSettings,
    _plan,
    conflicts,
    spark_conf,
)

ROOT = Path(__file__).resolve().parent.parent.parent

# A session, then another one with other settings in the same process; the first is closed in between.
TWO_SESSIONS = """
import os
import sys
from pathlib import Path
from runtime.spark.session import SessionSettings, close_session, open_session
from runtime.spark import session as module

log = Path(sys.argv[1])
before = os.environ.get("PYSPARK_PYTHON")
settings = SessionSettings("one", log, master="local[1]", short_run=True, timezone="Europe/Paris")
spark = open_session(settings)
assert spark.conf.get("spark.sql.session.timeZone") == "Europe/Paris"
assert spark.range(10).where("id % 2 = 0").count() == 5
first = module._driver.jvm
# A child of this process would attach to this JVM.
assert not [name for name in os.environ if name.startswith("PYSPARK_GATEWAY")]
assert os.access(os.environ["PYSPARK_PYTHON"], os.X_OK)
close_session(spark, keep_jvm=True)
spark = open_session(settings)
assert module._driver.jvm is first
assert spark.range(3).count() == 3
if sys.argv[2] == "other":
    close_session(spark)
    spark = open_session(SessionSettings("two", log, master="local[2]", short_run=True, parallelism=3))
    assert module._driver.jvm is not first
    assert spark.sparkContext.master == "local[2]"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    assert spark.range(3).count() == 3
close_session(spark)
# What was set has gone with the JVM's folder.
assert sys.argv[2] != "other" or os.environ.get("PYSPARK_PYTHON") == before

"""

# Starts a JVM, says its process id, and waits to be killed.
WAITS = """
import sys, time
from pathlib import Path
from runtime.spark.java import find_java
from runtime.spark.launcher import LaunchSettings, start_jvm

jvm = start_jvm(LaunchSettings(find_java(), Path(sys.argv[1]), {"spark.master": "local[1]"}))
jvm.attach()
print(jvm.process.pid, flush=True)
time.sleep(120)
"""


def environment(**more: str) -> dict[str, str]:
    return dict(os.environ) | {"PYTHONPATH": str(ROOT), "HEADRACE_ARCHIVE": "off"} | more


@pytest.mark.parametrize(("kind", "then"), [("system", "other"), ("wheel", "end")])
def test_sessions_run_on_either_java(kind: str, then: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TWO_SESSIONS, str(tmp_path / "jvm.log"), then],
        check=False,
        env=environment(HEADRACE_JAVA=kind),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # What the JVM says goes to its log, never to the terminal.
    assert done.stderr == ""


def test_jvm_ends_when_its_driver_is_killed(tmp_path: Path) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(tmp_path / "jvm.log")],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    with driver:
        assert driver.stdout is not None
        process = int(driver.stdout.readline())
        # A process group of its own, so that a Ctrl-C in the terminal reaches the driver only.
        assert os.getpgid(process) == process != os.getpgid(driver.pid)
        driver.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while running(process):
        assert time.monotonic() < deadline, "the JVM outlived its driver"
        time.sleep(0.1)


def running(process: int) -> bool:
    """Say whether a process runs; one that has ended but is not yet waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_short_run_has_room_for_the_code_that_it_compiles(session: SparkSession) -> None:
    """HotSpot gives the quick compiler alone 48 MB, and a JVM without room for code dies."""
    assert session._jvm is not None
    pools = session._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    room = [pool.getUsage().getMax() for pool in pools if "Code" in pool.getName()]
    assert sum(room) >= 200 << 20


def test_a_session_optimises_later(tmp_path: Path) -> None:
    """A JVM takes the thresholds as they are, and a user's options come behind them."""
    own = {"spark.driver.extraJavaOptions": "-XX:Tier4CompileThreshold=1234"}
    launch, _ = _plan(SessionSettings("a", tmp_path / "jvm.log", conf=own))
    assert launch.jvm_options[: len(LATER_OPTIMIZING)] == LATER_OPTIMIZING
    for options, threshold in ((LATER_OPTIMIZING, "180000"), (launch.jvm_options, "1234")):
        done = subprocess.run(
            [str(launch.java.executable), *options, "-XX:+PrintFlagsFinal", "-version"],
            check=True,
            capture_output=True,
            text=True,
        )
        found = dict(re.findall(r"(Tier4\w+) *= *(\d+)", done.stdout))
        assert found["Tier4InvocationThreshold"] == "60000"
        assert found["Tier4CompileThreshold"] == threshold
    short, _ = _plan(SessionSettings("a", tmp_path / "jvm.log", short_run=True))
    assert not set(LATER_OPTIMIZING) & set(short.jvm_options)


def test_failed_start_shows_the_end_of_the_log(tmp_path: Path) -> None:
    settings = LaunchSettings(find_java(), tmp_path / "jvm.log", memory="nonsense")
    jvm = start_jvm(settings)
    with pytest.raises(EnvironmentProblem) as caught:
        jvm.attach()
    assert caught.value.code == "HR603"
    assert "Invalid maximum heap size" in caught.value.cause


def test_java_that_cannot_be_run_is_an_error(tmp_path: Path) -> None:
    java = Java(tmp_path, 17, "17", "system")
    with pytest.raises(EnvironmentProblem, match="HR603"):
        start_jvm(LaunchSettings(java, tmp_path / "jvm.log"))


def test_options_are_those_of_sparks_own_launcher() -> None:
    java = find_java({**os.environ, "HEADRACE_JAVA": "system"})
    done = subprocess.run(
        [
            str(java.executable),
            "-cp",
            str(pyspark_home() / "jars" / "*"),
            "org.apache.spark.launcher.Main",
            "org.apache.spark.deploy.SparkSubmit",
            "--version",
        ],
        check=True,
        capture_output=True,
        text=True,
        env=environment(SPARK_HOME=str(pyspark_home()), JAVA_HOME=str(java.home), SPARK_SCALA_VERSION="2.13"),
    )
    printed = done.stdout.strip("\0\n").replace("\n", "\0").split("\0")
    options = [
        part for part in printed if part.startswith(("--add", "--sun", "--enable", "-XX", "-Dio", "-Dderby"))
    ]
    options.remove("--add-modules=jdk.incubator.vector")
    assert tuple(options) == MODULE_OPTIONS


def test_folders_come_after_the_jars(tmp_path: Path) -> None:
    settings = LaunchSettings(find_java(), tmp_path / "log", extra_jars=(tmp_path / "x.jar",))
    path = class_path(settings, {"SPARK_CONF_DIR": "/etc/spark"})
    assert path[-2:] == [str(tmp_path / "x.jar"), "/etc/spark"]
    assert path[:-2] == sorted(path[:-2])


def test_users_conf_wins_except_over_exactly_once(tmp_path: Path) -> None:
    conf = {
        "spark.ui.enabled": "true",
        "spark.speculation": "true",
        "spark.sql.extensions": "com.example.Mine",
    }
    settings = SessionSettings(
        "app", tmp_path / "log", conf=conf, packages=("io.delta:delta-spark_4.2_2.13:4.4.0",)
    )
    made = spark_conf(settings)
    assert made["spark.ui.enabled"] == "true"
    assert made["spark.speculation"] == "false"
    assert made["spark.sql.extensions"] == "io.delta.sql.DeltaSparkSessionExtension,com.example.Mine"
    assert conflicts(conf) == {"spark.speculation": "true"}
    assert {key for key, value in EXACTLY_ONCE.items() if value is not None} <= made.keys()
