"""Open a Spark session the way headrace wants it: our own JVM, our defaults, quiet, quick to start."""

from __future__ import annotations

import atexit
import logging
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import pathsep
from pathlib import Path
from typing import TYPE_CHECKING, Final

from runtime.spark.archive import ArchiveKey, archive_options, discard, train_in_background
from runtime.spark.cluster import check_master, driver_address, is_local, wait_for_executor
from runtime.spark.errors import EnvironmentProblem
from runtime.spark.jars import artifact_of, resolve_packages
from runtime.spark.java import find_java
from runtime.spark.launcher import (
    DriverJvm,
    LaunchSettings,
    died_of_signal,
    log_tail,
    start_jvm,
    started_by_spark,
)
from runtime.spark.shipping import ship

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger("headrace.spark")

LATER_OPTIMIZING: Final = (
    "-XX:Tier4InvocationThreshold=60000",
    "-XX:Tier4MinInvocationThreshold=7200",
    "-XX:Tier4CompileThreshold=180000",
    "-XX:Tier4BackEdgeThreshold=480000",
)
"""When the JVM's optimising compiler takes up a method: twelve times the calls and loops of HotSpot's own.

Of the CPU of a run of a minute it took a third, most of it for methods that are warm once and never hot. What
is hot for rows comes to these numbers within seconds, so a long run ends up with the same code.
"""

EXACTLY_ONCE: Mapping[str, str | None] = {
    # A source's own log is in the checkpoint by its read's name. It must be on from a query's first run.
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # State written by one provider cannot be read by another, and savepoints work on RocksDB's files.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Without these, queries whose results depend on where epochs end are let through.
    "spark.sql.streaming.unsupportedOperationCheck": "true",
    "spark.sql.streaming.statefulOperator.checkCorrectness.enabled": "true",
    # Notices that a foreachBatch has not consumed its epoch, so that state is behind the sink.
    "spark.sql.streaming.stateStore.commitValidation.enabled": "true",
    # Another protocol would write files that the sink's log does not list. None means Spark's own.
    "spark.sql.streaming.commitProtocolClass": None,
    # A second attempt beside the first would write to an external system twice, or fence the first.
    "spark.speculation": "false",
    # Input that cannot be read would be taken as read.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""The configuration that a user cannot change, since exactly-once depends on it."""

_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@dataclass(frozen=True)
class SessionSettings:
    """What a session is opened with.

    Attributes:
        app_name: The name that Spark shows.
        log_path: The file that takes the JVM's output.
        master: Spark's master.
        timezone: The session's time zone.
        parallelism: The number of shuffle partitions, and so of state partitions of new queries.
        conf: The user's Spark configuration. It wins, except over EXACTLY_ONCE.
        packages: Maven coordinates of what must be on the class path.
        jars: Jars that must be on it.
        driver_memory: The driver's largest heap, unless conf has spark.driver.memory.
        short_run: Whether the run is short: the JVM then compiles quickly, to slower code.
        jvm_options: More options of the driver's JVM.
        python_workers: Whether queries will run Python, so that its workers are made ready meanwhile.
    """

    app_name: str
    log_path: Path
    master: str = "local[*]"
    timezone: str = "UTC"
    parallelism: int = 2
    conf: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    jars: tuple[Path, ...] = ()
    driver_memory: str = "1g"
    short_run: bool = False
    jvm_options: tuple[str, ...] = ()
    python_workers: bool = False


@dataclass(frozen=True)
class _Driver:
    """The JVM that this process runs, and what it was started with."""

    jvm: DriverJvm
    launch: LaunchSettings
    key: ArchiveKey
    archived: bool


_driver: _Driver | None = None


def conflicts(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the entries of a user's configuration that do not take effect, as EXACTLY_ONCE forbids them."""
    return {
        key: value
        for key, value in conf.items()
        if key in EXACTLY_ONCE and value.strip().lower() != (EXACTLY_ONCE[key] or "").lower()
    }


def spark_conf(settings: SessionSettings, extra_jars: tuple[Path, ...] = ()) -> dict[str, str]:
    """Return the whole Spark configuration of a session.

    Args:
        settings: What the session is opened with.
        extra_jars: The jars on its class path beyond Spark's own.
    """
    conf = {
        "spark.app.name": settings.app_name,
        "spark.master": settings.master,
        # A SPARK_API_MODE=connect in the environment would start a server instead.
        "spark.api.mode": "classic",
        "spark.ui.enabled": "false",
        # Spark's shell, as which the JVM is started, turns the bars on, and they fill the log.
        "spark.ui.showConsoleProgress": "false",
        # Spark's default, INT96, is read by others as a time without a zone.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.session.timeZone": settings.timezone,
        "spark.sql.shuffle.partitions": str(settings.parallelism),
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        # An epoch is kept only while its sinks write it: to find out how its columns pack best took nearly
        # the CPU of parsing them once more.
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
        # Spark's 100 are fewer than a handful of queries have. As epochs come round, each piece of code would
        # have been thrown out just before it is needed again, and be compiled anew.
        "spark.sql.codegen.cache.maxEntries": "1000",
    }
    local = is_local(settings.master)
    # The machine's name may resolve slowly, or to nothing.
    if address := driver_address(settings.master):
        conf["spark.driver.host"] = conf["spark.driver.bindAddress"] = address
    names = [artifact_of(jar.name.partition("_")[2]) for jar in extra_jars]
    names += [package.split(":")[1] for package in settings.packages if package.count(":") >= 2]
    delta = any(name.startswith("delta-spark") for name in names)
    if delta:
        conf.update(_DELTA)
        if local:
            # Delta's 50 tasks for each read of a table's log suit a cluster; on one machine they are most
            # of what a small commit costs.
            conf["spark.databricks.delta.snapshotPartitions"] = str(settings.parallelism)
    conf.update(settings.conf)
    if extra_jars and not local:
        # On the driver's class path already; this takes them to the executors, beside the user's own.
        own = settings.conf.get("spark.jars")
        conf["spark.jars"] = ",".join(filter(None, (*map(str, extra_jars), own)))
    # Both have been resolved by now: Spark would do it again, at each start.
    conf.pop("spark.jars.packages", None)
    extensions = settings.conf.get("spark.sql.extensions")
    if delta and extensions and _DELTA["spark.sql.extensions"] not in extensions:
        conf["spark.sql.extensions"] = f"{_DELTA['spark.sql.extensions']},{extensions}"
    for key, value in EXACTLY_ONCE.items():
        conf.pop(key, None)
        if value is not None:
            conf[key] = value
    return conf


def open_session(
    settings: SessionSettings,
    meanwhile: Callable[[], None] = lambda: None,
    waiting: Callable[[], None] = lambda: None,
) -> SparkSession:
    """Open a session, in a JVM that this starts unless spark-submit has started one.

    Args:
        settings: What to open.
        meanwhile: Called while the JVM starts. What it raises ends the JVM and is passed on.
        waiting: Called if a cluster has given no executor after some seconds; it is waited for on.

    Returns:
        The session; give it to `close_session` at the end.

    Raises:
        EnvironmentProblem: HR601, HR602 or HR603, if the machine cannot run it; HR611, if the master does not
            answer or does not take the run.
        RuntimeError: If this process has a session open already.
    """
    for name, value in conflicts(settings.conf).items():
        _log.warning("%s=%s has no effect: exactly-once depends on it.", name, value)
    check_master(settings.master)
    if _driver is None and started_by_spark():
        meanwhile()
        return _attach(spark_conf(settings))
    launch, key = _plan(settings)
    driver = _start(launch, key, meanwhile)
    from py4j.protocol import Py4JError

    try:
        spark = _attach(launch.conf)
    except Py4JError as error:
        _end(driver)
        if is_local(settings.master):
            raise
        raise _not_taken(settings, error) from error
    driver.jvm.forget()
    try:
        wait_for_executor(spark, waiting)
    except BaseException:
        close_session(spark)
        raise
    return spark


def close_session(spark: SparkSession, keep_jvm: bool = False) -> None:
    """Stop a session, and the JVM if we started it.

    Args:
        spark: What `open_session` returned.
        keep_jvm: Whether the JVM stays, for a next session with the same settings: that one opens
            several seconds sooner. It ends with this process in any case.
    """
    driver = _driver
    try:
        spark.stop()
    except Exception:  # a dead JVM cannot be asked to stop; a live one that fails to is a fault to show
        if driver is None or driver.jvm.alive():
            raise
    if driver is None:
        return
    if not driver.jvm.alive() or not keep_jvm:
        _end(driver)
    train_in_background(driver.key)


def _plan(settings: SessionSettings) -> tuple[LaunchSettings, ArchiveKey]:
    """Work out what JVM the settings ask for."""
    java = find_java()
    for note in java.notes:
        _log.info("%s", note)
    asked = settings.conf.get("spark.jars.packages", "")
    packages = (*settings.packages, *(name.strip() for name in asked.split(",") if name.strip()))
    jars = (*resolve_packages(java, packages, settings.conf), *settings.jars)
    options = settings.jvm_options
    if settings.short_run:
        # The quick compiler only: the optimising one costs more than it gives back in under a minute.
        # It comes with a fifth of the room for compiled code. Many queries and their generated classes fill
        # that in minutes; the JVM then compiles nothing any more, and dies when a method handle wants a stub.
        options = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", *options)
    else:
        options = (*LATER_OPTIMIZING, *options)
    # SparkSubmit cannot apply these to the JVM that it runs in; Spark's launcher script does it.
    options += tuple(shlex.split(settings.conf.get("spark.driver.extraJavaOptions", "")))
    class_path = settings.conf.get("spark.driver.extraClassPath", "")
    launch = LaunchSettings(
        java=java,
        log_path=settings.log_path,
        conf=spark_conf(replace(settings, packages=packages), jars),
        extra_jars=jars,
        extra_class_path=tuple(part for part in class_path.split(pathsep) if part),
        memory=settings.conf.get("spark.driver.memory", settings.driver_memory),
        jvm_options=options,
        python_workers=settings.python_workers,
    )
    return launch, ArchiveKey(java, jars)


def _start(launch: LaunchSettings, key: ArchiveKey, meanwhile: Callable[[], None]) -> _Driver:
    """Have a JVM running as planned, by keeping the one that there is or starting one."""
    global _driver
    if _driver is not None:
        from pyspark.sql import SparkSession

        if SparkSession._instantiatedSession is not None:
            raise RuntimeError("This process has a Spark session open already; close it first.")
        if _driver.jvm.alive() and _comparable(_driver.launch) == _comparable(launch):
            if launch.python_workers:
                _driver.jvm.make_workers_ready()
            meanwhile()
            return _driver
        _end(_driver)
    archive = archive_options(key)
    jvm = start_jvm(replace(launch, jvm_options=(*archive, *launch.jvm_options)))
    try:
        import pyspark.sql  # noqa: F401  (takes most of a second, while the JVM starts)

        meanwhile()
        try:
            jvm.attach()
        except EnvironmentProblem:
            if not archive:
                raise
            # Any fault may be the archive's. Only if it starts without one is that proven.
            archive = ()
            jvm = start_jvm(launch)
            jvm.attach()
            discard(key)
            discard(ArchiveKey(key.java))
    except BaseException:
        jvm.stop()
        raise
    if _driver is None:
        atexit.register(_at_exit)
    _driver = _Driver(jvm, launch, key, bool(archive))
    return _driver


def _comparable(launch: LaunchSettings) -> LaunchSettings:
    """Return what must be equal for a JVM to be used again: all but the names of the run."""
    conf = {key: value for key, value in launch.conf.items() if key != "spark.app.name"}
    return replace(launch, conf=conf, log_path=Path(), python_workers=False)


def _attach(conf: Mapping[str, str]) -> SparkSession:
    """Build the session in the JVM that the environment names."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    ship(spark)
    return spark


def _not_taken(settings: SessionSettings, error: Exception) -> EnvironmentProblem:
    """Tell why a cluster ends an application at once: Spark logs it, and raises what follows from it."""
    reasons = [line for line in log_tail(settings.log_path).splitlines() if "Reason: " in line]
    return EnvironmentProblem(
        "HR611",
        f"The cluster at {settings.master} does not take the run.",
        reasons[-1].partition("Reason: ")[2] if reasons else str(error),
        f"See {settings.log_path}, and the logs of the master and of its workers.",
    )


def _end(driver: _Driver) -> None:
    """End our JVM and make PySpark forget it, so that it attaches anew."""
    global _driver
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
    if driver.archived and died_of_signal(driver.jvm):
        # The JVM crashed, which it does on an archive with damage inside.
        discard(driver.key)
    driver.jvm.stop()
    _driver = None


def _at_exit() -> None:
    """Make up for a session that was never closed."""
    if _driver is not None:
        train_in_background(_driver.key)
