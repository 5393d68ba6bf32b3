"""URLs of databases that can be written to and read."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.databases import POSTGRESQL, is_of_jdbc, known_driver
from compiler.plan.logical import BoundSink, LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import LookupTable, Scan

_FIX = "write url = 'jdbc:postgresql://host:5432/database'"


def database_url(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR104 for a URL of no database; one that begins with a variable is judged when it runs."""
    for sink in plan.sinks:
        if sink.connector.name == "jdbc":
            yield from _judge_sink(sink)
    for node in walk(*(sink.node for sink in plan.sinks)):
        if isinstance(node, (LookupTable, Scan)) and node.connector == "jdbc":
            url = str(dict(node.options).get("url", ""))
            if not url.startswith((*POSTGRESQL, "${env:")):
                yield Diagnostic(
                    codes.WRONG_VALUE,
                    f"source `{node.uid}` cannot read `{url.partition('//')[0]}`",
                    plan.places.get(node.uid),
                    cause="tables are read through PostgreSQL's own client; other databases are written only",
                    fix=_FIX,
                )


def _judge_sink(sink: BoundSink) -> Iterator[Diagnostic]:
    options = dict(sink.options)
    url = str(options.get("url", ""))
    if url.startswith((*POSTGRESQL, "${env:")):
        return
    place = sink.places.get("url", sink.span)
    problem = f"sink `{sink.name}` cannot write to `{url.partition('//')[0]}`"
    if not is_of_jdbc(options):
        yield Diagnostic(codes.WRONG_VALUE, problem, place, cause="it is no URL of a database", fix=_FIX)
    elif url.startswith("jdbc:mariadb:"):
        yield Diagnostic(
            codes.WRONG_VALUE,
            problem,
            place,
            cause="Spark quotes names as MariaDB does for URLs of MySQL only",
            fix="write url = 'jdbc:mysql://host:3306/shop?permitMysqlScheme', which MariaDB's driver takes",
        )
    elif known_driver(url) is None and "driver" not in options:
        yield Diagnostic(
            codes.WRONG_VALUE,
            problem,
            place,
            cause="which driver of JDBC takes it is not known",
            fix="name its class in driver, and its jar in driver.package (group:artifact:version) "
            "or driver.jar (a path)",
        )
