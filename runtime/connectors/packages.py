"""Maven packages that connectors need beside Spark's own jars.

Only what a plan uses is fetched: a project that writes files starts without a network. The versions are
those that were tried together with the pinned Spark.
"""

from __future__ import annotations

from compiler.jobplan.model import JobPlan, Scan

PACKAGES: dict[str, tuple[str, ...]] = {
    "delta": ("io.delta:delta-spark_4.2_2.13:4.4.0",),
    "kafka": ("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",),
}


def packages_of(plan: JobPlan) -> tuple[str, ...]:
    """Coordinates for all connectors of a plan."""
    used = {op.connector for query in plan.queries for op in query.operators if isinstance(op, Scan)}
    used |= {sink.connector for query in plan.queries for sink in query.sinks if not sink.removed}
    return tuple(sorted(package for connector in used for package in PACKAGES.get(connector, ())))
