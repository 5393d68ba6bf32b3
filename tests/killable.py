"""The session of a process that is to be killed, and the kill."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from pyspark.sql import SparkSession

from compiler.jobplan.model import JobPlan
from runtime.connectors.packages import packages_of, runs_python
from runtime.spark import session as sessions
from runtime.spark.session import SessionSettings, open_session

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Has Spark not compile expressions, which costs more than it gives over a few rows."""


def open_killable_session(job: JobPlan, project: Path) -> SparkSession:
    """A session for a plan, as the command line opens one for a short run; it interprets expressions."""
    settings = SessionSettings(
        app_name="killed",
        log_path=project / "jvm.log",
        master="local[2]",
        short_run=True,
        python_workers=runs_python(job.queries),
        driver_memory="2g",
        jvm_options=("-XX:+UseSerialGC",),
        conf=INTERPRETED,
        packages=packages_of(job),
    )
    return open_session(settings)


def die() -> None:
    """The whole machine goes: this process and its JVM at once."""
    driver = sessions._driver
    assert driver is not None
    os.kill(driver.jvm.process.pid, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
