"""What connectors need: Maven packages beside Spark's own jars, and Python in its tasks.

Only what a plan uses is fetched: a project that writes files starts without a network. The versions are
those that were tried together with the pinned Spark.
"""

from __future__ import annotations

from compiler.jobplan.model import JobPlan, LookupTable, Scan, Sink

_KAFKA = ("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",)
PACKAGES: dict[str, tuple[str, ...]] = {
    "delta": ("io.delta:delta-spark_4.2_2.13:4.4.0",),
    "kafka": _KAFKA,
    "upsert-kafka": _KAFKA,
}


_AVRO = ("org.apache.spark:spark-avro_2.13:4.2.0",)
FORMAT_PACKAGES: dict[str, tuple[str, ...]] = {"avro": _AVRO, "avro-confluent": _AVRO}

# Sinks whose tasks are Python.
PYTHON_SINKS = frozenset(("http", "jdbc", "kafka", "upsert-kafka"))


def packages_of(plan: JobPlan) -> tuple[str, ...]:
    """Coordinates for all connectors of a plan, and the formats of their messages."""
    operators = [op for query in plan.queries for op in query.operators]
    used: list[Scan | LookupTable | Sink] = [op for op in operators if isinstance(op, (Scan, LookupTable))]
    used += [sink for query in plan.queries for sink in query.sinks if not sink.removed]
    needed = [PACKAGES.get(part.connector, ()) for part in used]
    forms = {str(part.options.get(name)).lower() for part in used for name in ("format", "key.format")}
    needed += [FORMAT_PACKAGES.get(form, ()) for form in forms]
    return tuple(sorted({package for packages in needed for package in packages}))
