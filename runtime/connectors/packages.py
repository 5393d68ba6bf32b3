"""What connectors need: Maven packages beside Spark's own jars, and Python in its tasks.

Only what a plan uses is fetched: a project that writes files starts without a network. The versions are
those that were tried together with the pinned Spark.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from compiler.jobplan.databases import driver_package, is_of_jdbc
from compiler.jobplan.model import JobPlan, LookupTable, Options, Query, Scan, Sink
from runtime.connectors import paths

_KAFKA = ("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",)
PACKAGES: dict[str, tuple[str, ...]] = {
    "delta": ("io.delta:delta-spark_4.2_2.13:4.4.0",),
    "kafka": _KAFKA,
    "upsert-kafka": _KAFKA,
}


_AVRO = ("org.apache.spark:spark-avro_2.13:4.2.0",)
FORMAT_PACKAGES: dict[str, tuple[str, ...]] = {"avro": _AVRO, "avro-confluent": _AVRO}

# Sinks whose tasks are Python; of databases PostgreSQL's alone.
PYTHON_SINKS = frozenset(("http", "jdbc", "kafka", "upsert-kafka"))

# What tasks import that is not headrace's own.
_MODULES: dict[str, tuple[str, ...]] = {
    "jdbc": ("psycopg",),
    "kafka": ("confluent_kafka",),
    "upsert-kafka": ("confluent_kafka",),
}
# PySpark asks for Protobuf where a query keeps state in Python.
_PYTHON_MODULES = ("google.protobuf", "msgspec", "pandas", "pyarrow")

# Formats of messages that are read and written in Python.
PYTHON_FORMATS = frozenset(("protobuf",))


def packages_of(plan: JobPlan) -> tuple[str, ...]:
    """Coordinates for all connectors of a plan, and the formats of their messages."""
    operators = [op for query in plan.queries for op in query.operators]
    used: list[Scan | LookupTable | Sink] = [op for op in operators if isinstance(op, (Scan, LookupTable))]
    used += [sink for query in plan.queries for sink in query.sinks if not sink.removed]
    needed = [PACKAGES.get(part.connector, ()) for part in used]
    needed += [FORMAT_PACKAGES.get(form, ()) for part in used for form in forms_of(part.options)]
    drivers = [driver_package(part.options) for part in used if part.connector == "jdbc"]
    needed += [(driver,) for driver in drivers if driver]
    return tuple(sorted({package for packages in needed for package in packages}))


def driver_jars(plan: JobPlan, project_dir: Path) -> tuple[Path, ...]:
    """Jars with drivers of databases that a plan's sinks name by a path."""
    sinks = [sink for query in plan.queries for sink in query.sinks if not sink.removed]
    named = {str(sink.options["driver.jar"]) for sink in sinks if "driver.jar" in sink.options}
    return tuple(paths.local(path, project_dir) for path in sorted(named))


def forms_of(options: Options) -> set[str]:
    """The formats of a source or sink."""
    return {str(options[name]).lower() for name in ("format", "key.format") if name in options}


def runs_python(queries: Iterable[Query]) -> bool:
    """Say whether Python runs in tasks: an operator's state, what a sink sends, or messages of a source."""
    return any(
        any(hasattr(op, "buckets") for op in query.operators)
        or any(isinstance(op, Scan) and forms_of(op.options) & PYTHON_FORMATS for op in query.operators)
        or any(_is_python(sink) for sink in query.sinks if not sink.removed)
        for query in queries
    )


def modules_of(queries: Iterable[Query]) -> frozenset[str]:
    """Names of the modules of other packages that tasks of queries import."""
    queries = tuple(queries)
    sinks = [sink for query in queries for sink in query.sinks if not sink.removed]
    needed = [_MODULES.get(sink.connector, ()) for sink in sinks if _is_python(sink)]
    needed += [_PYTHON_MODULES] if runs_python(queries) else []
    return frozenset(module for modules in needed for module in modules)


def _is_python(sink: Sink) -> bool:
    return sink.connector in PYTHON_SINKS and not (sink.connector == "jdbc" and is_of_jdbc(sink.options))
